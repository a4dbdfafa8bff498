package mysql

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/testenv"
)

// everyKind is a table with columns of all that the driver makes a value of its
// own of, at their extremes.
const everyKind = `CREATE TABLE t (id INT PRIMARY KEY, i8 TINYINT, u8 TINYINT UNSIGNED, i16 SMALLINT, i24 MEDIUMINT, i32 INT, i64 BIGINT, u64 BIGINT UNSIGNED,
 z INT(8) ZEROFILL, y YEAR, yes BOOLEAN, f FLOAT, d DOUBLE, n DECIMAL(65,30), b BIT(1), b9 BIT(9), s VARCHAR(300), l LONGTEXT, x BLOB, day DATE, clock TIME(6), at DATETIME(6), moment TIMESTAMP(3) NULL, j JSON);
INSERT INTO t VALUES (1, -128, 255, -32768, -8388608, -2147483648, -9223372036854775808, 18446744073709551615,
 42, 0, 1, 3.4028234e38, 1.7976931348623157e308, -0.000000000000000000000000000001, 1, 257, '', REPEAT('é', 40000), x'00ff27', '9999-12-31', '-838:59:59.999999', '0000-00-00 00:00:00', '2024-02-29 23:59:59.999', '{"a": [1]}'),
 (2, 0, 0, 0, 0, 0, 0, 0, 0, 2155, 0, -0e0, 5e-324, 0, 0, 0, REPEAT('x', 251), REPEAT('y', 70000), REPEAT('z', 65535), '1000-01-01', '00:00:00.100000', '1000-01-01 00:00:00.000001', NULL, 'null'),
 (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);`

// Rows are the same whether they are taken from the connection or from the driver.
func TestRowsOfTheDriverAreTheSame(t *testing.T) {
	t.Parallel()
	r := newSourceRig(t, everyKind)
	for _, options := range []map[string]any{{}, {"query": "SELECT * FROM t ORDER BY id"}, {"key": "f", "columns": nil}, {"key": "z"}} {
		if options["columns"] == nil {
			delete(options, "columns")
		}
		direct := r.source(options, connector.SourceEnv{})
		rows, rejects := readAll(t, direct, connector.Want{})
		driven := r.source(options, connector.SourceEnv{})
		driven.sessions.below = &connections{}
		again, rejectsAgain := readAll(t, driven, connector.Want{})
		if len(rows)+len(rejects) != 3 || !slices.Equal(rows, again) || len(rejects) != len(rejectsAgain) {
			t.Errorf("%v: from the connection\n%.2000q\n%v\nfrom the driver\n%.2000q\n%v", options, rows, rejects, again, rejectsAgain)
		}
	}
}

// An encrypted connection is read through the driver, and gives the same.
func TestEncryptedRows(t *testing.T) {
	t.Parallel()
	cert, key := selfSigned(t)
	maria := testenv.MariaDBWith(t, "ssl_cert="+cert, "ssl_key="+key)
	url := maria.Database(t)
	maria.Exec(t, url, everyKind)
	rows := map[bool][]string{}
	for mode, encrypted := range map[string]bool{"required": true, "preferred": true, "disabled": false} {
		r := &sourceRig{t: t, maria: maria, url: url + "?ssl-mode=" + mode}
		s := r.source(nil, connector.SourceEnv{})
		check(t, s.sessions.with(t.Context(), func(session *session) error {
			if session.below == nil || session.below.encrypted != encrypted {
				t.Errorf("ssl-mode=%s: the connection below is %+v", mode, session.below)
			}
			return nil
		}))
		got, rejects := readAll(t, s, connector.Want{})
		if len(got)+len(rejects) != 3 {
			t.Errorf("ssl-mode=%s: %d rows, %d rejects", mode, len(got), len(rejects))
		}
		if rows[encrypted] = got; rows[!encrypted] != nil && !slices.Equal(got, rows[!encrypted]) {
			t.Errorf("ssl-mode=%s: other rows: %.2000q", mode, got)
		}
	}
}

// selfSigned makes a certificate and its key that the server may read.
func selfSigned(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	dir := t.TempDir()
	check(t, os.Chmod(dir, 0o755))               //nolint:gosec // the server is another user
	check(t, os.Chmod(filepath.Dir(dir), 0o755)) //nolint:gosec // likewise
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0)}
	cert := must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	der := must(x509.MarshalPKCS8PrivateKey(key))(t)
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	check(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o644)) //nolint:gosec // likewise
	check(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o644))   //nolint:gosec // likewise
	return certFile, keyFile
}

// scripted is a server that says what it was told to, to anybody.
type scripted struct {
	net.Conn
	said *bytes.Reader
}

func (s scripted) Read(p []byte) (int, error)  { return s.said.Read(p) }
func (s scripted) Write(p []byte) (int, error) { return len(p), nil }

// packets puts payloads into packets, from the first answer on.
func packets(payloads ...string) []byte {
	var all []byte
	for i, p := range payloads {
		all = append(all, byte(len(p)), byte(len(p)>>8), byte(len(p)>>16), byte(i+1))
		all = append(all, p...)
	}
	return all
}

const someColumn = "\x03def\x00\x00\x00\x01a\x00\x0c\x21\x00\x00\x00\x00\x00\xfd\x00\x00\x00\x00\x00"

// readScript reads a result from what a server said.
func readScript(said []byte) (names []string, rows []string, err error) {
	conn := &buffered{reader: bufio.NewReaderSize(scripted{said: bytes.NewReader(said)}, readBuffer), Conn: scripted{}}
	w, err := queryWire(conn, "SELECT")
	if err != nil {
		return nil, nil, err
	}
	for {
		if err := w.next(); err != nil {
			return w.columns, rows, err
		}
		var cells []string
		for _, c := range w.row {
			if c == nil {
				cells = append(cells, "NULL")
			} else {
				cells = append(cells, string(c))
			}
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
}

// Both ways in which servers end columns and rows are read, and what is cut,
// out of order or of another length is an error (exactness rule 12).
func TestResultsOnTheWire(t *testing.T) {
	t.Parallel()
	const end, oldEnd = "\xfe\x00\x00\x02\x00\x00\x00", "\xfe\x00\x00\x02\x00"
	long := strings.Repeat("x", 100_000)
	tests := map[string]struct {
		said []byte
		rows []string
		err  string
	}{
		"new":                  {packets("\x01", someColumn, "\x01x", "\xfb", "\x00", end), []string{"x", "NULL", ""}, "EOF"},
		"old":                  {packets("\x01", someColumn, oldEnd, "\x01x", oldEnd), []string{"x"}, "EOF"},
		"MariaDB's byte":       {packets("\x01\x01", someColumn, end), nil, "EOF"},
		"two columns":          {packets("\x02", someColumn, someColumn, "\x01x\xfb", end), []string{"x|NULL"}, "EOF"},
		"long":                 {packets("\x01", someColumn, "\xfd\xa0\x86\x01"+long, "\x01y", end), []string{long, "y"}, "EOF"},
		"empty":                {packets("\x01", someColumn, oldEnd, oldEnd), nil, "EOF"},
		"refused":              {packets("\xff\x28\x04#42000no"), nil, "Error 1064 (42000): no"},
		"refused amidst":       {packets("\x01", someColumn, "\x01x", "\xff\x25\x05#70100killed"), []string{"x"}, "Error 1317 (70100): killed"},
		"cut":                  {packets("\x01", someColumn, "\x01x"), []string{"x"}, "invalid connection: unexpected EOF"},
		"cut in a row":         {packets("\x01", someColumn, "\x05x")[:len(packets("\x01", someColumn, "\x05x"))-1], nil, "unexpected EOF"},
		"a cell too long":      {packets("\x01", someColumn, "\x05x"), nil, "malformed"},
		"a cell too many":      {packets("\x01", someColumn, "\x01x\x01y"), nil, "malformed"},
		"a cell too few":       {packets("\x02", someColumn, someColumn, "\x01x"), nil, "malformed"},
		"nothing":              {packets("\x01", someColumn, ""), nil, "malformed"},
		"out of order":         {append(packets("\x01", someColumn), packets("\x01x")...), nil, "commands out of sync"},
		"no rows":              {packets("\x00\x00\x00\x02\x00\x00\x00"), nil, "no SELECT"},
		"a file of ours":       {packets("\xfb/etc/passwd"), nil, "a file of this machine"},
		"a status that is cut": {packets("\x01", someColumn, "\xfe\x00\x00"), nil, "malformed"},
	}
	for name, test := range tests {
		_, rows, err := readScript(test.said)
		if !slices.Equal(rows, test.rows) || err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(test.err)) {
			t.Errorf("%s: %.100q, %v; want %.100q, %s", name, rows, err, test.rows, test.err)
		}
	}
}

// A row of several packets is one, and takes no more room than it needs.
func TestRowOfManyPackets(t *testing.T) {
	t.Parallel()
	const size = 40 << 20
	row := append([]byte{packetEnd, 0, 0, 0x80, 2, 0, 0, 0, 0}, bytes.Repeat([]byte("0123456789abcdef"), size/16)...)
	said := packets("\x01", someColumn)
	for seq := byte(3); ; seq++ {
		n := min(len(row), fullPacket)
		said = append(said, byte(n), byte(n>>8), byte(n>>16), seq)
		said = append(said, row[:n]...)
		if row = row[n:]; n < fullPacket {
			said = append(said, packets("\xfe\x00\x00\x02\x00\x00\x00")...)
			said[len(said)-8] = seq + 1
			break
		}
	}
	conn := &buffered{reader: bufio.NewReaderSize(scripted{said: bytes.NewReader(said)}, readBuffer), Conn: scripted{}}
	w := must(queryWire(conn, "SELECT"))(t)
	check(t, w.next())
	if len(w.row[0]) != size || !bytes.Equal(w.row[0][size-16:], []byte("0123456789abcdef")) || cap(w.large) > size+fullPacket {
		t.Errorf("%d bytes in a buffer of %d", len(w.row[0]), cap(w.large))
	}
}

// Whatever a server says, it is rows or an error, in memory in proportion to
// what was said.
func FuzzWire(f *testing.F) {
	for _, seed := range [][]byte{
		packets("\x01", someColumn, "\x01x", "\xfe\x00\x00\x02\x00\x00\x00"), packets("\x02\x01", someColumn, someColumn, "\xfe\x00\x00\x02\x00", "\xfb\x00"),
		packets("\xff\x28\x04#42000no"), packets("\xfd\xff\xff\xff", someColumn),
		{0xff, 0xff, 0xff, 1, 0xfe},
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		if _, rows, err := readScript(said); err == nil || len(rows) > len(said) {
			t.Errorf("%d rows of %d bytes, %v", len(rows), len(said), err)
		}
	})
}

// A stream that is cut while rows come gives its connection up.
func TestStreamCutOnTheWire(t *testing.T) {
	t.Parallel()
	r := newSourceRig(t, "CREATE TABLE t (id INT PRIMARY KEY, s LONGTEXT); INSERT INTO t SELECT seq, REPEAT('x', 10000) FROM seq_1_to_5000")
	s := r.source(nil, connector.SourceEnv{})
	session := must(s.sessions.get(t.Context()))(t)
	ctx, cancel := context.WithCancel(t.Context())
	st := must(newStream(ctx, session, "SELECT * FROM t"))(t)
	err := st.guard(ctx, func(any) error {
		for {
			if _, err := st.next(); err != nil {
				return err
			}
			cancel()
		}
	})
	if err == nil || st.close() || !session.ended {
		t.Errorf("%v; ended %v", err, session.ended)
	}
}
