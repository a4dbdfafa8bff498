package mysql

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	driver "github.com/go-sql-driver/mysql"

	"github.com/leatdata/leat/connector"
)

// What the client/server protocol of MySQL and MariaDB is made of: packets with
// a header of length and sequence number, and integers of one to nine bytes.
const (
	packetHeader = 4
	// fullPacket is the length of a packet that goes on in the next.
	fullPacket = 1<<24 - 1

	commandQuery = 0x03

	packetOK     = 0x00
	packetInfile = 0xfb // in the place of a result; of a cell: NULL
	packetEnd    = 0xfe // of a result; or an integer of eight bytes
	packetError  = 0xff

	// moreResults is a flag of the server's status.
	moreResults = 0x0008
)

// errNoRows: a statement that gives no result.
var errNoRows = connector.Errorf(connector.Usage, "the query returns no rows, nor could it: it is no SELECT")

// wire runs queries on a connection of the driver's, below it and while it is
// idle: each cell of a row is the text that the server has sent, in place. The
// driver makes a number of it and an object of that.
type wire struct {
	conn     *buffered
	sequence byte
	// taken is how much of the reader's buffer the last packet is; large holds
	// one that does not fit in.
	taken int
	large []byte
	// first is the first packet of the rows, when it was read before its turn.
	first   []byte
	columns []string
	row     [][]byte
	// unread says that results follow that nobody wants.
	unread bool
}

// queryWire sends a query and reads what comes before its rows.
func queryWire(conn *buffered, query string) (*wire, error) {
	w := &wire{conn: conn, sequence: 1}
	packet := make([]byte, packetHeader, packetHeader+1+len(query))
	binary.LittleEndian.PutUint32(packet, uint32(1+len(query)))
	packet = append(append(packet, commandQuery), query...)
	if _, err := conn.Write(packet); err != nil {
		return nil, lost(err)
	}
	n, err := w.header()
	if err != nil {
		return nil, err
	}
	if err := w.readColumns(n); err != nil {
		return nil, err
	}
	w.row = make([][]byte, n)
	// Servers of old end the columns by a packet of their own.
	if w.first, err = w.packet(); err == nil && len(w.first) == 5 && w.first[0] == packetEnd {
		w.first = nil
	}
	return w, err
}

// header reads how many columns the result has.
func (w *wire) header() (n int, err error) {
	data, err := w.packet()
	if err != nil {
		return 0, err
	}
	switch data[0] {
	case packetOK:
		return 0, errNoRows
	case packetInfile:
		return 0, connector.Errorf(connector.Usage, "the query wants a file of this machine")
	}
	count, size, ok := cutInteger(data)
	// MariaDB tells by one more byte that the columns follow.
	if !ok || count > fullPacket || len(data) > size+1 {
		return 0, driver.ErrMalformPkt
	}
	return int(count), nil
}

// readColumns reads the names of the columns.
func (w *wire) readColumns(n int) error {
	for range n {
		data, err := w.packet()
		if err != nil {
			return err
		}
		// Catalogue, schema, table, the table's own name; then the column's.
		var name []byte
		for range 5 {
			var ok bool
			if name, data, ok = cutCell(data); !ok {
				return driver.ErrMalformPkt
			}
		}
		w.columns = append(w.columns, string(name))
	}
	return nil
}

// next reads a row into w.row; its bytes are valid until the next. io.EOF is the
// server's word that there are no more.
func (w *wire) next() error {
	data := w.first
	w.first = nil
	if data == nil {
		var err error
		if data, err = w.packet(); err != nil {
			return err
		}
	}
	if data[0] == packetEnd && len(data) <= fullPacket {
		return w.end(data)
	}
	for i := range w.row {
		var ok bool
		if w.row[i], data, ok = cutCell(data); !ok {
			return driver.ErrMalformPkt
		}
	}
	if len(data) > 0 {
		return driver.ErrMalformPkt
	}
	return nil
}

// end reads the server's status, which a packet of old has behind the warnings.
func (w *wire) end(data []byte) error {
	status := data[1:]
	if len(data) == 5 {
		status = data[3:]
	} else {
		for range 2 { // rows changed, the last number given
			_, n, ok := cutInteger(status)
			if !ok {
				return driver.ErrMalformPkt
			}
			status = status[n:]
		}
	}
	if len(status) < 2 {
		return driver.ErrMalformPkt
	}
	w.unread = binary.LittleEndian.Uint16(status)&moreResults != 0
	w.release()
	return io.EOF
}

// release takes the last packet out of the buffer.
func (w *wire) release() {
	// What was looked at is there.
	_, _ = w.conn.reader.Discard(w.taken)
	w.taken = 0
	if cap(w.large) > readBuffer {
		w.large = nil
	}
}

// packet reads one, of whatever length, that is not empty; an error that the
// server sends is the error.
func (w *wire) packet() ([]byte, error) {
	w.release()
	n, err := w.length()
	if err != nil {
		return nil, err
	}
	var data []byte
	if packetHeader+n <= readBuffer {
		data, err = w.conn.reader.Peek(packetHeader + n)
		if err != nil {
			return nil, lost(err)
		}
		w.taken = len(data)
		data = data[packetHeader:]
	} else if data, err = w.longPacket(n); err != nil {
		return nil, err
	}
	switch {
	case len(data) == 0:
		return nil, driver.ErrMalformPkt
	case data[0] == packetError:
		return nil, refusal(data)
	}
	return data, nil
}

// length is that of the next packet.
func (w *wire) length() (int, error) {
	head, err := w.conn.reader.Peek(packetHeader)
	if err != nil {
		return 0, lost(err)
	}
	if head[3] != w.sequence {
		return 0, driver.ErrPktSync
	}
	w.sequence++
	return int(binary.LittleEndian.Uint32(head) & fullPacket), nil
}

// longPacket puts packets together that are one.
func (w *wire) longPacket(n int) ([]byte, error) {
	for {
		_, _ = w.conn.reader.Discard(packetHeader)
		at := len(w.large)
		if cap(w.large) < at+n {
			larger := make([]byte, at, max(at+n, wanted(w.large)))
			copy(larger, w.large)
			w.large = larger
		}
		w.large = w.large[:at+n]
		if _, err := io.ReadFull(w.conn.reader, w.large[at:]); err != nil {
			return nil, lost(err)
		}
		if n < fullPacket {
			return w.large, nil
		}
		var err error
		if n, err = w.length(); err != nil {
			return nil, err
		}
	}
}

// wanted is how long a row is at least of which this is the beginning: by the
// lengths of its cells, as far as they can be believed.
func wanted(data []byte) int {
	rest := data
	for {
		_, after, ok := cutCell(rest)
		if ok {
			rest = after
			continue
		}
		n, size, ok := cutInteger(rest)
		if !ok {
			return len(data)
		}
		return int(min(uint64(len(data)-len(rest)+size)+n, 8*uint64(len(data))))
	}
}

// cutCell takes a string with its length before it; NULL is a nil string.
func cutCell(data []byte) (cell, rest []byte, ok bool) {
	if len(data) > 0 && data[0] < packetInfile {
		if end := 1 + int(data[0]); end <= len(data) {
			return data[1:end:end], data[end:], true
		}
		return nil, nil, false
	}
	if len(data) > 0 && data[0] == packetInfile {
		return nil, data[1:], true
	}
	n, size, ok := cutInteger(data)
	if !ok || n > uint64(len(data)-size) {
		return nil, nil, false
	}
	end := size + int(n)
	return data[size:end:end], data[end:], true
}

// cutInteger reads an integer, and how many bytes it takes.
func cutInteger(data []byte) (n uint64, size int, ok bool) {
	if len(data) == 0 {
		return 0, 0, false
	}
	switch data[0] {
	case packetInfile, packetError:
		return 0, 0, false
	case 0xfc:
		size = 3
	case 0xfd:
		size = 4
	case packetEnd:
		size = 9
	default:
		return uint64(data[0]), 1, true
	}
	if len(data) < size {
		return 0, 0, false
	}
	for i := size - 1; i > 0; i-- {
		n = n<<8 | uint64(data[i])
	}
	return n, size, true
}

// refusal is the error that the server sends, as the driver's.
func refusal(data []byte) error {
	if len(data) < 3 {
		return driver.ErrMalformPkt
	}
	err := &driver.MySQLError{Number: binary.LittleEndian.Uint16(data[1:])}
	text := data[3:]
	if len(text) > 5 && text[0] == '#' {
		copy(err.SQLState[:], text[1:6])
		text = text[6:]
	}
	err.Message = string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
	return err
}

// lost is the error of a connection that has ended.
func lost(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %w", driver.ErrInvalidConn, err)
}
