package storagetest

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// cluster is a throwaway PostgreSQL in a folder that all test processes of one
// user know. Three lock files order them; the kernel lets go of a lock when its
// process ends, however it ends.
//
//   - start is held while the server is started or stopped.
//   - users is held, shared, by every test process for as long as it lives.
//   - keeper is held by the one process that stops the server; see keep.
type cluster struct {
	dir string
	bin string
}

// joinCluster starts the cluster unless it runs, stays one of its users until
// the process ends, and returns the URL of its first database with the lock that
// makes it a user.
func joinCluster(bin string) (string, *os.File, error) {
	c := cluster{dir: clusterDir(), bin: bin}
	if err := c.makeDir(); err != nil {
		return "", nil, err
	}
	start, err := lockFile(c.path("start.lock"), syscall.LOCK_EX)
	if err != nil {
		return "", nil, err
	}
	defer unlock(start)
	if !c.running() {
		if err := c.start(); err != nil {
			return "", nil, err
		}
	}
	user, err := lockFile(c.path("users.lock"), syscall.LOCK_SH)
	if err != nil {
		return "", nil, err
	}
	return c.url().String(), user, c.ensureKeeper()
}

func clusterDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("mailhelm-postgres-%d", os.Getuid()))
}

func (c cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c cluster) url() *url.URL {
	q := url.Values{"host": {c.path("run")}, "sslmode": {"disable"}}
	return &url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres", RawQuery: q.Encode()}
}

// makeDir makes the folder, which other users of the machine may not have made
// for us: its place is known and writable by all.
func (c cluster) makeDir() error {
	if err := os.Mkdir(c.dir, 0o711); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(c.dir)
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(owner.Uid) != os.Getuid() {
		return fmt.Errorf("%s is not a folder of ours", c.dir)
	}
	return nil
}

func (c cluster) running() bool {
	db, err := sql.Open("postgres", c.url().String())
	if err != nil {
		return false
	}
	defer func() { _ = db.Close() }()
	return db.Ping() == nil
}

// start makes a new cluster in place of what an earlier one may have left.
func (c cluster) start() error {
	c.stop()
	run := c.path("run")
	if err := os.Mkdir(run, 0o700); err != nil {
		return err
	}
	if owner := c.owner(); owner != nil {
		if err := os.Chown(run, int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	data := filepath.Join(run, "data")
	if err := c.run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"); err != nil {
		return err
	}
	return c.resume()
}

// resume starts the server on what is there.
func (c cluster) resume() error {
	run := c.path("run")
	// What is in here is thrown away, so nothing waits for the disk.
	options := fmt.Sprintf("-c listen_addresses='' -c unix_socket_directories='%s' -c fsync=off -c synchronous_commit=off "+
		"-c full_page_writes=off -c max_connections=300 -c shared_buffers=64MB -c wal_level=minimal -c max_wal_senders=0", run)
	return c.run("pg_ctl", "-D", filepath.Join(run, "data"), "-w", "-l", filepath.Join(run, "log"), "-o", options, "start")
}

// halt ends the server as an operator would, and leaves what it has.
func (c cluster) halt() error {
	return c.run("pg_ctl", "-D", filepath.Join(c.path("run"), "data"), "-w", "-m", "fast", "stop")
}

// stop ends the server, if one runs, and removes all it had.
func (c cluster) stop() {
	_ = c.run("pg_ctl", "-D", filepath.Join(c.path("run"), "data"), "-w", "-m", "immediate", "stop") // none may run
	_ = os.RemoveAll(c.path("run"))
}

func (c cluster) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(c.bin, program), args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.owner()}
	if program == "initdb" { // pg_ctl's server would keep the pipe open
		output, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", program, err, output)
		}
		return nil
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	return nil
}

// owner is the system user that the server runs as when we are root, which
// PostgreSQL refuses to run as; otherwise nil.
func (c cluster) owner() *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.ParseUint(u.Uid, 10, 32) // numbers on every system that has them
			gid, _ := strconv.ParseUint(u.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	return nil
}

// serverBinaries is the folder of the newest installed server, "" when there is
// none. Debian keeps them out of PATH.
func serverBinaries() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is well formed
	if len(found) > 0 {
		newest := slices.MaxFunc(found, func(a, b string) int { return majorVersion(a) - majorVersion(b) })
		return filepath.Dir(newest)
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	output, err := exec.Command("pg_config", "--bindir").Output()
	if err != nil {
		return ""
	}
	bin := string(output[:max(0, len(output)-1)])
	if _, err := os.Stat(filepath.Join(bin, "initdb")); err != nil {
		return ""
	}
	return bin
}

func majorVersion(initdb string) int {
	version, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb)))) // 0 sorts an odd name first
	return version
}
