package enginetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// keeperVariable is the environment variable that turns a test binary into the keeper, the
// process that stops the shared PostgreSQL server. Its value is the folder of the server's
// programs.
const keeperVariable = "MAILHELM_TEST_POSTGRES_KEEPER"

const (
	keeperLooks = time.Second
	// idleLooks is the number of checks, one each second, after which an unused server is
	// stopped. The server stays during pauses within one test run, such as the linking of
	// test binaries, because a restart takes 3 s of processor time.
	idleLooks = 60
)

// init makes the test binary run as the keeper, the process that stops the shared
// PostgreSQL server, if keeperVariable is set. The binary then runs no test. A separate
// program would first have to be built and found.
func init() {
	if bin := os.Getenv(keeperVariable); bin != "" {
		keep(cluster{dir: clusterDir(), bin: bin})
		os.Exit(0)
	}
}

// ensureKeeper starts this program again as the keeper, the process that later stops the
// PostgreSQL server. If a keeper is running, it does nothing. The keeper gets its own
// session, so that interrupting the tests does not stop it. The caller must hold
// start.lock.
func (c cluster) ensureKeeper() error {
	keeper, err := lockFile(c.path("keeper.lock"), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return nil // another process holds keeper.lock, so it is the keeper
	}
	unlock(keeper)
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(program)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), keeperVariable+"="+c.bin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	return cmd.Process.Release()
}

// keep stops the server once no test process has used it for idleLooks seconds.
func keep(c cluster) {
	keeper, err := lockFile(c.path("keeper.lock"), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return // another process is the keeper
	}
	defer unlock(keeper)
	ticker := time.NewTicker(keeperLooks)
	defer ticker.Stop()
	for idle := 0; ; <-ticker.C {
		start, err := lockFile(c.path("start.lock"), syscall.LOCK_EX)
		if err != nil {
			return // the folder was removed together with the server
		}
		users, err := lockFile(c.path("users.lock"), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil {
			idle = 0
			unlock(start)
			continue
		}
		if idle++; idle > idleLooks {
			c.stop()
			// keeper.lock is released before start.lock: the next test process that gets
			// start.lock can then start a new keeper
			unlock(keeper)
			unlock(start)
			return
		}
		unlock(users)
		unlock(start)
	}
}

// lockFile opens the file and locks it with the flock operation how. The lock is released
// by unlock, or when the process ends.
func lockFile(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return file, nil
}

// unlock closes the file, which releases its lock.
func unlock(file *os.File) { _ = file.Close() } // nothing was written
