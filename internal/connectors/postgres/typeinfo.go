package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/leatdata/leat/batch/value"
)

// oid is an object's number in the server's catalogue.
type oid uint32

func (o oid) String() string { return strconv.FormatUint(uint64(o), 10) }

// The built-in types that this package knows by number.
const (
	oidBool        oid = 16
	oidBytea       oid = 17
	oidChar        oid = 18
	oidName        oid = 19
	oidInt8        oid = 20
	oidInt2        oid = 21
	oidInt2Vector  oid = 22
	oidInt4        oid = 23
	oidText        oid = 25
	oidOID         oid = 26
	oidOIDVector   oid = 30
	oidJSON        oid = 114
	oidXML         oid = 142
	oidFloat4      oid = 700
	oidFloat8      oid = 701
	oidBpchar      oid = 1042
	oidVarchar     oid = 1043
	oidDate        oid = 1082
	oidTime        oid = 1083
	oidTimestamp   oid = 1114
	oidTimestampTZ oid = 1184
	oidInterval    oid = 1186
	oidTimeTZ      oid = 1266
	oidBit         oid = 1560
	oidVarbit      oid = 1562
	oidNumeric     oid = 1700
	oidUUID        oid = 2950
	oidJSONB       oid = 3802
)

// typeInfo is what the catalogue says of a type.
type typeInfo struct {
	oid  oid
	name string // as SQL writes it, qualified where the search path needs it
	kind byte   // pg_type.typtype: b base, d domain, e enum, c composite, r range, m multirange
	// base and baseMod are what a domain stands on.
	base    *typeInfo
	baseMod int32
	// elem is the element type of a true array; delim stands between elements.
	elem  *typeInfo
	delim byte
	// labels are an enum's.
	labels map[string]struct{}
}

// under returns the type below all domains, and the modifier that holds there.
func (t *typeInfo) under(mod int32) (*typeInfo, int32) {
	for t.kind == 'd' && t.base != nil {
		mod = t.baseMod
		t = t.base
	}
	return t, mod
}

const typesQuery = `WITH RECURSIVE t(oid) AS (
  SELECT unnest($1::oid[])
  UNION
  SELECT v.x FROM t JOIN pg_catalog.pg_type p ON p.oid = t.oid
  CROSS JOIN LATERAL (VALUES (p.typbasetype), (CASE WHEN p.typcategory = 'A' THEN p.typelem END)) v(x)
  WHERE v.x <> 0)
SELECT p.oid, pg_catalog.format_type(p.oid, -1), p.typtype, p.typbasetype, p.typtypmod,
  CASE WHEN p.typcategory = 'A' AND p.typlen = -1 THEN p.typelem ELSE 0 END, e.typdelim,
  (SELECT pg_catalog.string_agg('\x' || pg_catalog.encode(pg_catalog.convert_to(enumlabel, 'UTF8'), 'hex'), ',')
   FROM pg_catalog.pg_enum WHERE enumtypid = p.oid)
FROM t JOIN pg_catalog.pg_type p ON p.oid = t.oid LEFT JOIN pg_catalog.pg_type e ON e.oid = p.typelem`

// loadTypes reads the types of these numbers and those they are made of.
func loadTypes(ctx context.Context, s *session, oids []oid) (map[oid]*typeInfo, error) {
	texts := make([]string, len(oids))
	for i, o := range oids {
		texts[i] = o.String()
	}
	rows, err := s.query(ctx, typesQuery, "{"+strings.Join(texts, ",")+"}")
	if err != nil {
		return nil, wrap("read the catalogue's types", err)
	}
	types := make(map[oid]*typeInfo, len(rows))
	for _, row := range rows {
		number, err := parseOID(row[0])
		if err != nil {
			return nil, err
		}
		types[number] = &typeInfo{oid: number, name: string(row[1]), kind: row[2][0], labels: labelsOf(row[7])}
	}
	for _, row := range rows {
		number, _ := parseOID(row[0])
		if err := types[number].link(types, row); err != nil {
			return nil, err
		}
	}
	return types, nil
}

// link fills in what a type is made of.
func (t *typeInfo) link(types map[oid]*typeInfo, row [][]byte) error {
	base, err := parseOID(row[3])
	if err != nil {
		return err
	}
	mod, err := strconv.ParseInt(string(row[4]), 10, 32)
	if err != nil {
		return fmt.Errorf("read the catalogue's types: %w", err)
	}
	elem, err := parseOID(row[5])
	if err != nil {
		return err
	}
	t.base, t.baseMod, t.elem = types[base], int32(mod), types[elem]
	if t.oid == oidInt2Vector || t.oid == oidOIDVector {
		t.elem = nil
	}
	if len(row[6]) == 1 {
		t.delim = row[6][0]
	}
	return nil
}

// labelsOf reads labels written in hexadecimal with commas between.
func labelsOf(cell []byte) map[string]struct{} {
	if cell == nil {
		return nil
	}
	labels := map[string]struct{}{}
	for text := range strings.SplitSeq(string(cell), ",") {
		if label, err := value.ParseHex(nil, []byte(text)); err == nil {
			labels[string(label)] = struct{}{}
		}
	}
	return labels
}

func parseOID(cell []byte) (oid, error) {
	n, err := strconv.ParseUint(string(cell), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("read the catalogue: %w", err)
	}
	return oid(n), nil
}
