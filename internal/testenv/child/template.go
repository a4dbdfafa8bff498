package child

import (
	"fmt"
	"sync"
)

// Template is the data that servers of one kind begin with: made once, in an
// empty folder, and copied for each of them, which is much faster.
type Template struct {
	// Dir is the folder.
	Dir string

	once sync.Once
	err  error
}

// makeData makes the server's data, or copies that of its template.
func (p *Program) makeData(c *Config) error {
	t := c.Template
	if t == nil {
		return p.install(c)
	}
	from := Config{Dir: t.Dir}
	t.once.Do(func() { t.err = p.install(&from) })
	if t.err != nil {
		return t.err
	}
	if err := p.Account.Own(c.Dir); err != nil {
		return err
	}
	if out, err := p.Account.Command("cp", "-a", from.Data(), c.Data()).CombinedOutput(); err != nil {
		return fmt.Errorf("copy the data of %s: %w\n%s", p.Name, err, out)
	}
	return nil
}

// install makes new data.
func (p *Program) install(c *Config) error {
	if err := p.Account.Own(c.Dir); err != nil {
		return err
	}
	install := p.Install(c)
	install.Dir = c.Dir
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("make the data of %s: %w\n%s", p.Name, err, out)
	}
	return nil
}
