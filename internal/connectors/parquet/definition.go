package parquet

import (
	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// Definition declares the connector, over the machine's own files.
func Definition() *connector.Definition {
	return &connector.Definition{
		Name: "parquet",
		Doc:  "Parquet files: columns in row groups, compressed within the file",
		Source: &connector.SourceDef{
			Options: func() any { return new(SourceOptions) },
			New: func(options any, env connector.SourceEnv) (connector.Source, error) {
				return NewSource(storage.Local{}, options.(*SourceOptions), env)
			},
		},
		Sink: &connector.SinkDef{
			Options: func() any { return new(SinkOptions) },
			New: func(options any, env connector.SinkEnv) (connector.Sink, error) {
				return NewSink(storage.Local{}, options.(*SinkOptions), env)
			},
			Readback: func(options any) (any, error) { return readback(options.(*SinkOptions)), nil },
		},
		Types:    typeRows(),
		Location: location,
		Suffixes: []string{suffix},
	}
}

// location makes options of a path.
func location(loc connector.Location) (map[string]any, error) {
	if loc.Path == "" {
		return nil, connector.Errorf(connector.Usage, "parquet reads and writes paths, not URLs")
	}
	return map[string]any{"path": loc.Path}, nil
}

func typeRows() []connector.TypeRow {
	fraction := func(k batch.Kind, n int) batch.Type { return batch.Type{Kind: k, Fraction: n} }
	return []connector.TypeRow{
		{Native: "BOOLEAN", Type: batch.Of(batch.Bool)},
		{Native: "INT(8) to INT(64), signed and unsigned", Type: batch.Of(batch.Int64), Note: "the integer of that size; INT32 and INT64 without a logical type too"},
		{Native: "FLOAT, DOUBLE", Type: batch.Of(batch.Float64), Note: "NaN, infinities and -0 as they are; FLOAT16 is read as float32"},
		{Native: "DECIMAL(p,s)", Type: batch.Type{Kind: batch.Decimal, Precision: 38, Scale: 10}, Note: "written up to 38 digits; others, and those without a precision, as text; NaN and infinities are dirty"},
		{Native: "STRING, ENUM", Type: batch.Of(batch.Text), Note: "ENUM is read only; a value that is not UTF-8 is dirty"},
		{Native: "BYTE_ARRAY", Type: batch.Of(batch.Bytes), Note: "without a logical type, and BSON; FIXED_LEN_BYTE_ARRAY is read"},
		{Native: "DATE", Type: batch.Of(batch.Date), Note: "years BC are written; infinities and 0000-00-00 are dirty"},
		{Native: "TIME(MICROS), TIME(NANOS)", Type: fraction(batch.Time, 7), Note: "nanoseconds where the source's type has them; MILLIS is read; what is not within 00:00:00 and 24:00:00 is dirty"},
		{Native: "TIMESTAMP(MICROS), TIMESTAMP(NANOS)", Type: fraction(batch.Timestamp, 7), Note: "not adjusted to UTC; nanoseconds where the source's type has them, which reach from 1677 to 2262; MILLIS and INT96 are read; infinities are dirty"},
		{Native: "TIMESTAMP, adjusted to UTC", Type: fraction(batch.Instant, 7), Note: "as TIMESTAMP"},
		{Native: "INTERVAL", Type: batch.Of(batch.Interval), Note: "read only: it has milliseconds and no signs, so intervals are written as text (ISO 8601)"},
		{Native: "UUID", Type: batch.Of(batch.UUID)},
		{Native: "JSON", Type: batch.Of(batch.JSON), Note: "arrays are written as JSON too"},
		{Native: "LIST, MAP, groups, repeated fields", Type: batch.Of(batch.JSON), Note: "read only: numbers with all digits, NaN and infinities as strings, bytes in base64, JSON as it is, all else as strings; a map is an object"},
	}
}
