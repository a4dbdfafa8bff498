package dataset

import "strconv"

// Narrow is a table of three columns of fixed width, about 46 bytes a row.
func Narrow() Table {
	return Table{
		Name:    "narrow",
		About:   "3 columns: int8, float8, timestamp",
		Columns: []Column{{"id", "int8"}, {"value", "float8"}, {"at", "timestamp"}},
		seed:    3,
		row:     narrow,
	}
}

func narrow(dst []byte, r *random, id int) []byte {
	dst = append(strconv.AppendInt(dst, int64(id), 10), ',')
	value := float64(r.pcg.Uint64()>>11) / (1 << 43)
	dst = append(strconv.AppendFloat(dst, value, 'g', -1, 64), ',')
	dst = appendTimestamp(dst, 1_600_000_000_000_000+int64(id)*1_000_003)
	return append(dst, '\n')
}
