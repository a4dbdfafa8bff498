// Package cli is Leat's command line: what each command takes and prints, and
// with which code it ends. Each command is a constructor of its cobra command
// beside a function runX(ctx, env, opts, args), which is what it does.
//
// Records may go to standard output; everything that is said of them goes to
// standard error then. No text leaves a command without the job's secrets
// taken out of it.
package cli
