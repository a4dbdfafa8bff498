package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/leatdata/leat/connector"
)

// runsOutside reports whether a statement cannot run in a transaction.
func runsOutside(sql string) bool {
	words := strings.Fields(strings.ToUpper(sql))
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "VACUUM":
		return true
	case "ALTER":
		return len(words) > 1 && words[1] == "SYSTEM"
	case "CREATE", "DROP", "REINDEX":
		for _, w := range words[1:min(6, len(words))] {
			if w == "CONCURRENTLY" || (len(words) > 1 && (words[1] == "DATABASE" || words[1] == "TABLESPACE")) {
				return true
			}
		}
	}
	return false
}

// inside and outside divide statements by whether they run in a transaction.
func inside(statements []string) (list []string) {
	for _, sql := range statements {
		if !runsOutside(sql) {
			list = append(list, sql)
		}
	}
	return list
}

func outside(statements []string) (list []string) {
	for _, sql := range statements {
		if runsOutside(sql) {
			list = append(list, sql)
		}
	}
	return list
}

func (k *Sink) outsideDoubts() (doubts []string) {
	for _, sql := range append(outside(k.options.Pre), outside(k.options.Post)...) {
		doubts = append(doubts, fmt.Sprintf("%q cannot run in a transaction, so it may run twice after a crash", sql))
	}
	return doubts
}

// preOutside runs the statements of pre that cannot run in a transaction, if
// the run is not prepared yet.
func (k *Sink) preOutside(ctx context.Context, s *session, l *ledger, run connector.Run) error {
	list := outside(k.options.Pre)
	if len(list) == 0 {
		return nil
	}
	m, err := l.Marker(ctx, s, run.ID)
	if err != nil || m != nil {
		return err
	}
	for _, sql := range list {
		if err := s.exec(ctx, sql); err != nil {
			return wrap("run pre", err)
		}
	}
	return nil
}
