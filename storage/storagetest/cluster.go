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

// cluster is a temporary PostgreSQL server in a folder that all test processes of one
// user share. Three lock files coordinate them. The kernel releases a lock when its
// process ends, for whatever reason.
//
//   - start is held while the server is started or stopped.
//   - users is held, shared, by every test process until it ends.
//   - keeper is held by the one process that stops the server; see keep.
type cluster struct {
	dir string
	bin string
}

// joinCluster starts the cluster if it is not running. It returns the URL of the first
// database and the lock that registers this process as a user until it ends.
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

// clusterDir returns the folder, one for each user of the machine.
func clusterDir() string {
	return filepath.Join(temporary(), fmt.Sprintf("mailhelm-postgres-%d", os.Getuid()))
}

func (c cluster) path(name string) string { return filepath.Join(c.dir, name) }

// url returns the address of the first database, through a Unix socket.
func (c cluster) url() *url.URL {
	q := url.Values{"host": {c.path("run")}, "sslmode": {"disable"}}
	return &url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres", RawQuery: q.Encode()}
}

// makeDir creates the folder. It returns an error if another user of the machine created
// it, because its path is predictable and its parent is writable by all.
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

// running reports whether the server answers.
func (c cluster) running() bool {
	db, err := sql.Open("postgres", c.url().String())
	if err != nil {
		return false
	}
	defer func() { _ = db.Close() }()
	return db.Ping() == nil
}

// start stops and removes an earlier cluster and starts a new one.
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

// resume starts the server on its existing data.
func (c cluster) resume() error {
	run := c.path("run")
	// The data is temporary, so the server need not wait for the disk.
	options := fmt.Sprintf("-c listen_addresses='' -c unix_socket_directories='%s' -c fsync=off -c synchronous_commit=off "+
		"-c full_page_writes=off -c max_connections=300 -c shared_buffers=64MB -c wal_level=minimal -c max_wal_senders=0", run)
	return c.run("pg_ctl", "-D", filepath.Join(run, "data"), "-w", "-l", filepath.Join(run, "log"), "-o", options, "start")
}

// halt shuts down the server as an operator would and keeps its data.
func (c cluster) halt() error {
	return c.run("pg_ctl", "-D", filepath.Join(c.path("run"), "data"), "-w", "-m", "fast", "stop")
}

// stop ends the server, if it is running, and removes its data.
func (c cluster) stop() {
	_ = c.run("pg_ctl", "-D", filepath.Join(c.path("run"), "data"), "-w", "-m", "immediate", "stop") // it fails if no server is running
	_ = os.RemoveAll(c.path("run"))
}

// run runs a program of the server as the owner and waits for it. It returns an error
// with the output of initdb.
func (c cluster) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(c.bin, program), args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.owner()}
	if program == "initdb" { // the server that pg_ctl starts would keep the pipe open
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

// owner returns the system user that runs the server when the tests run as root, because
// PostgreSQL refuses root. Otherwise it returns nil.
func (c cluster) owner() *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.ParseUint(u.Uid, 10, 32) // numeric on every system with user ids
			gid, _ := strconv.ParseUint(u.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	return nil
}

// serverBinaries returns the folder of the newest installed server, "" if there is none.
// Debian installs the binaries outside PATH.
func serverBinaries() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is valid
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

// majorVersion returns the version in the path of an initdb, such as 15 in
// /usr/lib/postgresql/15/bin/initdb.
func majorVersion(initdb string) int {
	version, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb)))) // an unparsable name becomes 0 and sorts first
	return version
}
