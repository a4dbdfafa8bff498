package zkserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

var errNotInstalled = errors.New("ZooKeeper is not on this machine: " +
	"install the Debian packages zookeeper and default-jre-headless; " +
	"`make test` run as root installs them")

// programs is the Java runtime and where the server's classes are.
type programs struct{ java, classPath string }

// find looks for them where Debian's packages put them.
func find() (programs, error) { return locate(os.Getenv("PATH"), "/usr/share/java") }

// locate finds java on the path, and the archives in the folder jars.
func locate(path, jars string) (programs, error) {
	var p programs
	for _, dir := range filepath.SplitList(path) {
		if file := filepath.Join(dir, "java"); p.java == "" && runs(file) {
			p.java = file
		}
	}
	if p.java == "" {
		return programs{}, fmt.Errorf("%w (no java on the PATH)", errNotInstalled)
	}
	// The first names the archives it needs itself; logging, and what TLS needs,
	// are chosen by who runs it.
	var class []string
	for _, jar := range []string{"zookeeper.jar", "slf4j-simple.jar", "netty-codec.jar"} {
		file := filepath.Join(jars, jar)
		if _, err := os.Stat(file); err != nil {
			return programs{}, fmt.Errorf("%w (%w)", errNotInstalled, err)
		}
		class = append(class, file)
	}
	p.classPath = strings.Join(class, string(filepath.ListSeparator))
	return p, nil
}

func runs(file string) bool {
	_, err := exec.LookPath(file)
	return err == nil
}

// command runs a server somewhere with the configuration file cfg.
func (p programs) command(at Place, cfg string) *exec.Cmd {
	return at.Command(p.java,
		"-Xmx128m", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true",
		// What was answered is in the files when the process is killed; only the
		// machine's end would lose it.
		"-Dzookeeper.forceSync=no", "-Dzookeeper.preAllocSize=1024", "-Dzookeeper.jmx.log4j.disable=true",
		"-cp", p.classPath, "org.apache.zookeeper.server.quorum.QuorumPeerMain", cfg)
}
