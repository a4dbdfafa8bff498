package job

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/leatdata/leat/connector/option"
)

// minSecret is the length from which a secret is looked for in texts: shorter
// ones would make any text unreadable.
const minSecret = 4

// redactor takes secrets out of texts.
type redactor struct{ secrets []string }

// newRedactor takes the secrets themselves; of URLs also their passwords alone,
// as written and decoded.
func newRedactor(secrets []string) *redactor {
	r := &redactor{}
	for _, s := range secrets {
		r.add(s)
		if _, after, ok := strings.Cut(s, "://"); ok {
			if user, _, ok := cutLast(after, "@"); ok {
				if _, password, ok := strings.Cut(user, ":"); ok {
					r.add(password)
				}
			}
		}
		if u, err := url.Parse(s); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				r.add(password)
			}
		}
	}
	slices.SortFunc(r.secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	r.secrets = slices.Compact(r.secrets)
	return r
}

func (r *redactor) add(secret string) {
	for _, s := range []string{secret, strings.TrimSpace(secret)} {
		if len(s) >= minSecret && !slices.Contains(r.secrets, s) {
			r.secrets = append(r.secrets, s)
		}
	}
}

func (r *redactor) text(text string) string {
	for _, s := range r.secrets {
		text = strings.ReplaceAll(text, s, "***")
	}
	return option.MaskURL(text)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
