// Package job reads a job file (YAML) into one Job value: where records come
// from, where they go, which columns, and how the run behaves.
//
// # Reading
//
// Parse goes in four steps, each of which reports all that is wrong, with the
// line: YAML text to a tree that knows its lines (duplicate keys are errors);
// interpolation of ${name}, ${env:NAME} and ${file:PATH} in scalars; the
// file's sections, whose keys are declared like a connector's options; the
// options of the two connectors. Values are put in as text and are never read
// again as YAML, so that a password may hold any character.
//
// # Secrets
//
// Values from the environment and from files are secret, and so are passwords
// in options of type option.Secret. Job.Redact takes all of them out of a
// text. Nothing else of a Job that is meant to be printed or stored
// (Fingerprint, YAML, errors) holds them.
//
// # Identity
//
// A Fingerprint is what an unfinished run may not change: source, sink,
// columns and where. Passwords, tuning and everything else may change.
package job
