package enginetest

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
// system user share. Three lock files coordinate the processes. The kernel releases a lock
// when its process ends, even after a crash.
//
//   - A process holds start.lock while it starts or stops the server.
//   - Every test process holds users.lock, as a shared lock, until it ends.
//   - The one process that later stops the server holds keeper.lock; see keep.
type cluster struct {
	dir string
	bin string
	// durable makes each commit wait for the disk.
	durable bool
	// replicated lets standbys follow the server.
	replicated bool
}

// joinCluster starts the PostgreSQL server if it is not running. bin is the folder of the
// server's programs. It returns the URL of the server's first database. It also returns a
// lock: until this process ends, the lock marks it as a user of the server.
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
	if !c.isRunning() {
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

// clusterDir returns the folder of the shared PostgreSQL server. Each user of the machine
// has a separate folder.
func clusterDir() string {
	return filepath.Join(temporary(), fmt.Sprintf("mailhelm-postgres-%d", os.Getuid()))
}

func (c cluster) path(name string) string { return filepath.Join(c.dir, name) }

// url returns the address of the server's database named postgres, through a Unix socket.
func (c cluster) url() *url.URL {
	q := url.Values{"host": {c.path("run")}, "sslmode": {"disable"}}
	return &url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres", RawQuery: q.Encode()}
}

// makeDir creates the folder of the cluster. It returns an error if another user of the
// machine has created it. That could be an attack, because the path is predictable and its
// parent is writable by everyone.
func (c cluster) makeDir() error {
	if err := os.Mkdir(c.dir, 0o711); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if !c.isOurs() {
		return fmt.Errorf("%s is not a folder of ours", c.dir)
	}
	return nil
}

// isOurs reports whether the folder exists and is of this user.
func (c cluster) isOurs() bool {
	info, err := os.Lstat(c.dir)
	if err != nil || !info.IsDir() {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Getuid()
}

// isRunning reports whether the server answers a ping.
func (c cluster) isRunning() bool {
	db, err := sql.Open("postgres", c.url().String())
	if err != nil {
		return false
	}
	defer func() { _ = db.Close() }()
	return db.Ping() == nil
}

// start removes the server and data of an earlier run, then creates and starts a new
// server.
func (c cluster) start() error {
	c.stop()
	if err := c.makeRun(); err != nil {
		return err
	}
	data := filepath.Join(c.path("run"), "data")
	if err := c.run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"); err != nil {
		return err
	}
	return c.resume()
}

// follow copies the running server primary, and starts the copy as a standby that follows it.
func (c cluster) follow(primary cluster) error {
	if err := c.makeRun(); err != nil {
		return err
	}
	if err := c.run("pg_basebackup", "-D", filepath.Join(c.path("run"), "data"), "-h", primary.path("run"), "-U", "postgres",
		"--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync"); err != nil {
		return err
	}
	return c.resume()
}

// makeRun creates the folder of the server's socket and data.
func (c cluster) makeRun() error {
	run := c.path("run")
	if err := os.Mkdir(run, 0o700); err != nil {
		return err
	}
	if owner := c.owner(); owner != nil {
		return os.Chown(run, int(owner.Uid), int(owner.Gid))
	}
	return nil
}

// resume starts the PostgreSQL server with its existing data.
func (c cluster) resume() error {
	run := c.path("run")
	options := fmt.Sprintf("-c listen_addresses='' -c unix_socket_directories='%s' -c max_connections=300 ", run)
	switch {
	case c.replicated:
		options += "-c fsync=off -c full_page_writes=off -c shared_buffers=64MB -c wal_level=replica -c max_wal_senders=4 -c wal_keep_size=256MB"
	case !c.durable:
		// The data is temporary, so commits need not wait for the disk.
		options += "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=64MB -c wal_level=minimal -c max_wal_senders=0"
	}
	return c.run("pg_ctl", "-D", filepath.Join(run, "data"), "-w", "-l", filepath.Join(run, "log"), "-o", options, "start")
}

// halt shuts down the server in PostgreSQL's "fast" mode and keeps its data.
func (c cluster) halt() error {
	return c.run("pg_ctl", "-D", filepath.Join(c.path("run"), "data"), "-w", "-m", "fast", "stop")
}

// crash ends the server in PostgreSQL's "immediate" mode, without a checkpoint, and keeps its data.
// It returns an error if no server runs.
func (c cluster) crash() error {
	return c.run("pg_ctl", "-D", filepath.Join(c.path("run"), "data"), "-w", "-m", "immediate", "stop")
}

// promote makes a standby the primary.
func (c cluster) promote() error {
	return c.run("pg_ctl", "-D", filepath.Join(c.path("run"), "data"), "-w", "promote")
}

// stop stops the PostgreSQL server, if it is running, and removes its data.
func (c cluster) stop() {
	_ = c.crash() // an error means that no server is running
	_ = os.RemoveAll(c.path("run"))
}

// run runs a program of PostgreSQL, such as initdb, as the user that owner returns, and
// waits for it. The error of initdb contains its output.
func (c cluster) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(c.bin, program), args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.owner()}
	// The output of pg_ctl is not read, because the server that it starts would keep the
	// pipe open.
	if program == "initdb" {
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

// owner returns the system user that must run the server, or nil for the current user. The
// tests may run as root, but PostgreSQL refuses to run as root.
func (c cluster) owner() *syscall.Credential {
	u := serverUser()
	if u == nil {
		return nil
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32) // cannot fail: user ids are numbers on Unix
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// serverUser returns the system user that runs PostgreSQL and PgBouncer, which refuse to run as
// root. It returns nil for the current user.
func serverUser() *user.User {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return u
		}
	}
	return nil
}

// serverBinaries returns the folder with the programs of the newest installed PostgreSQL
// server, or "" if none is installed. It also searches outside PATH, because Debian
// installs these programs outside PATH.
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

// majorVersion returns the PostgreSQL version in the path of an initdb program, such as 15
// in /usr/lib/postgresql/15/bin/initdb.
func majorVersion(initdb string) int {
	// a name that is not a number gives 0, which sorts first
	version, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return version
}
