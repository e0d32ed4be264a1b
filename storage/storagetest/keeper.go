package storagetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// keeperVariable is the environment variable that makes a test binary the keeper of the
// cluster. Its value is the folder of the server binaries.
const keeperVariable = "MAILHELM_TEST_POSTGRES_KEEPER"

const (
	keeperLooks = time.Second
	// idleLooks covers the pauses between the packages of one run, such as those in which
	// test binaries are linked. A restart takes 3 s of processor time.
	idleLooks = 60
)

// init turns a test binary into the keeper if keeperVariable is set; it then runs no
// test. A separate program would have to be built and located first.
func init() {
	if bin := os.Getenv(keeperVariable); bin != "" {
		keep(cluster{dir: clusterDir(), bin: bin})
		os.Exit(0)
	}
}

// ensureKeeper starts this program again as the keeper, unless there is one. The keeper
// has its own session, so that an interrupt of the tests does not reach it. The caller
// must hold start.
func (c cluster) ensureKeeper() error {
	keeper, err := lockFile(c.path("keeper.lock"), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return nil // another process holds the lock and is the keeper
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

// keep stops the cluster after no process has used it for a while.
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
			return // the folder was removed together with the cluster
		}
		users, err := lockFile(c.path("users.lock"), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil {
			idle = 0
			unlock(start)
			continue
		}
		if idle++; idle > idleLooks {
			c.stop()
			unlock(keeper) // before releasing start, so that the next process starts a keeper
			unlock(start)
			return
		}
		unlock(users)
		unlock(start)
	}
}

// lockFile opens a file and locks it. unlock or the end of the process releases the lock.
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

// unlock releases the lock by closing the file.
func unlock(file *os.File) { _ = file.Close() } // nothing was written
