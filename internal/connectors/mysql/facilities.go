package mysql

import (
	"context"
	"strings"

	"github.com/leatdata/leat/connector"
)

// facilities are settings of a server that decide how rows go to it. A server
// has not all of them.
type facilities map[string]string

const facilitiesQuery = `SHOW VARIABLES WHERE variable_name IN ('local_infile', 'max_allowed_packet', 'log_bin', 'binlog_format', 'wsrep_on', 'wsrep_load_data_splitting')`

func loadFacilities(ctx context.Context, s *session) (facilities, error) {
	rows, err := s.query(ctx, facilitiesQuery)
	f := facilities{}
	for _, row := range rows {
		f[strings.ToLower(string(row[0]))] = strings.ToUpper(string(row[1]))
	}
	return f, wrap("look up the server's settings", err)
}

func (f facilities) on(name string) bool { return f[name] == "ON" || f[name] == "1" }

// look finds out what bounds statements and rows, and which way rows go.
func (k *Sink) look(ctx context.Context, s *session, t *target) error {
	f, err := loadFacilities(ctx, s)
	if err != nil {
		return err
	}
	if t.maxPacket, err = number([]byte(f["max_allowed_packet"])); err != nil {
		return err
	}
	if f.on("log_bin") && f["binlog_format"] == "STATEMENT" {
		return connector.Errorf(connector.Usage, "the server's binlog_format is STATEMENT, with which it refuses rows from transactions that are READ COMMITTED; set it to MIXED or ROW")
	}
	t.loads, t.way = false, ""
	switch {
	case k.options.Load == loadInsert:
		t.way = "by INSERT of many rows, as load: insert says"
	case !t.transactional:
		t.way = "by INSERT, one row at a time, since the table's engine has no transactions"
	case f.on("wsrep_on") && f.on("wsrep_load_data_splitting"):
		t.way = "by INSERT of many rows, since the server's wsrep_load_data_splitting commits amid LOAD DATA"
	case !f.on("local_infile"):
		t.way = "by INSERT of many rows, since the server's local_infile is off"
	default:
		t.loads, t.way = true, "by LOAD DATA LOCAL INFILE, from memory"
	}
	if k.options.Load == loadInfile && !t.loads {
		return connector.Errorf(connector.Usage, "load: infile cannot be had: rows go %s; say load: auto or insert", t.way)
	}
	return nil
}
