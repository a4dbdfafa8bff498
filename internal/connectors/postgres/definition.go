package postgres

import (
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// Definition returns the connector.
func Definition() *connector.Definition {
	return database.Definition[SourceOptions, SinkOptions, *Source, *Sink]{
		Name:       "postgres",
		Doc:        "PostgreSQL tables, views and queries; rows travel by COPY",
		Schemes:    []string{"postgres", "postgresql"},
		Types:      typeRows(),
		Parameters: connectionParameters(),
		Settings:   true,
		NewSource:  newSource,
		NewSink:    newSink,
		Readback:   func(o *SinkOptions) map[string]any { return map[string]any{"url": o.URL, "table": o.Table} },
	}.Connector()
}

// connectionParameters may stand behind the ? of a URL: what libpq's URLs have
// and the driver takes, and settings of the server that are often set there.
func connectionParameters() []string {
	return []string{
		"host", "port", "user", "password", "dbname", "database", "passfile", "service", "servicefile", "connect_timeout", "target_session_attrs",
		"sslmode", "sslcert", "sslkey", "sslpassword", "sslrootcert", "sslsni", "sslnegotiation", "krbspn", "krbsrvname", "channel_binding",
		"min_protocol_version", "max_protocol_version", "application_name", "options", "search_path", "role",
	}
}
