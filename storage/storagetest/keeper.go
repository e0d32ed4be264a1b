package storagetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// keeperVariable tells a test binary that it is to be the keeper of the cluster
// whose binaries it names.
const keeperVariable = "MAILHELM_TEST_POSTGRES_KEEPER"

const (
	keeperLooks = time.Second
	// Between the packages of one run there are pauses; starting again is slower.
	idleLooks = 5
)

// A test binary that finds itself the keeper keeps, and runs no test. A program
// of its own would have to be built first, and found.
func init() {
	if bin := os.Getenv(keeperVariable); bin != "" {
		keep(cluster{dir: clusterDir(), bin: bin})
		os.Exit(0)
	}
}

// ensureKeeper starts this program again as the keeper, in a session of its own
// so that an interrupt for the tests does not reach it. The caller holds start.
func (c cluster) ensureKeeper() error {
	keeper, err := lockFile(c.path("keeper.lock"), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return nil // another process holds it, so there is one
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

// keep stops the cluster when for some time no process has used it.
func keep(c cluster) {
	keeper, err := lockFile(c.path("keeper.lock"), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return // another keeps already
	}
	defer unlock(keeper)
	ticker := time.NewTicker(keeperLooks)
	defer ticker.Stop()
	for idle := 0; ; <-ticker.C {
		start, err := lockFile(c.path("start.lock"), syscall.LOCK_EX)
		if err != nil {
			return // the folder is gone, and the cluster with it
		}
		users, err := lockFile(c.path("users.lock"), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil {
			idle = 0
			unlock(start)
			continue
		}
		if idle++; idle > idleLooks {
			c.stop()
			unlock(keeper) // before others may start, so that they find no keeper
			unlock(start)
			return
		}
		unlock(users)
		unlock(start)
	}
}

// lockFile opens a file and locks it; unlock, or the end of the process, lets go.
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

func unlock(file *os.File) { _ = file.Close() } // nothing was written
