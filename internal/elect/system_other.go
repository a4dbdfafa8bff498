//go:build !linux

package elect

import (
	"errors"
	"os"
	"os/exec"
	"time"
)

func adoptOrphans() error {
	return errors.New("leat elect needs Linux: only there is a command ended for sure when its watchers are")
}

const self = ""

func bootTime() time.Duration { return 0 }

func separate(*exec.Cmd) {}

func ownGroup(*exec.Cmd) {}

func killOrphans(int) bool { return false }

func reapOrphans() {}

// Signals are those that Config.Signals has to bring.
func Signals() []os.Signal { return []os.Signal{os.Interrupt} }

func ends(os.Signal) (number int, end bool) { return 2, true }

// Watch is a watcher's whole life.
func Watch([]string) error { return adoptOrphans() }
