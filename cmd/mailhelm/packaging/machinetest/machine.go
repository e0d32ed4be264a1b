package machinetest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// Machine is a running copy of this machine.
type Machine struct {
	tb     testing.TB
	folder string
	pid    string // of the first process
}

// The programs that may be the first process of a copy.
var (
	// Idle does nothing: the copy runs only what the test runs in it.
	Idle = []string{"sleep", "infinity"}
	// Systemd starts services, and none until the test does.
	Systemd = []string{"env", "container=machinetest", systemd, "--system", "--unit=basic.target"}
)

const systemd = "/usr/lib/systemd/systemd"

//go:embed boot.sh
var boot string

// keeper runs the copy until standard input ends, when the test ends it or crashes, or a signal
// comes, such as that of Ctrl-C. unshare ignores signals, and lets no process of the copy survive
// its own end. A control group of its own keeps the groups that systemd makes
// apart from those of this machine.
const keeper = `
trap : INT TERM HUP
groups=/sys/fs/cgroup
if [ ! -e $groups/cgroup.procs ]; then groups=$groups/unified; fi
own=$groups/$(basename "$1")
mkdir "$own"
echo 0 >"$own/cgroup.procs"
unshare --mount --net --pid --ipc --uts --cgroup --fork --kill-child sh -c "$boot" sh "$@" &
read -r _ || :
kill -9 $! 2>/dev/null
wait
echo 0 >$groups/cgroup.procs
for try in 1 2 3 4 5 6 7 8 9; do
	find "$own" -depth -type d -exec rmdir {} + 2>/dev/null
	[ -e "$own" ] || exit 0
	sleep 0.1
done
echo "the control group $own stays"
exit 1
`

// attempt makes the root folder of a copy and ends it at once.
const attempt = `
groups=/sys/fs/cgroup
if [ ! -e $groups/cgroup.procs ]; then groups=$groups/unified; fi
mkdir "$groups/$(basename "$1")"
rmdir "$groups/$(basename "$1")"
exec unshare --mount --net --pid --ipc --uts --cgroup --fork --kill-child sh -c "$boot" sh "$1" true
`

// Permitted returns nil if the kernel lets this process make a copy, and otherwise an error with
// the step that it refused. Root in a container often may not mount file systems.
func Permitted(tb testing.TB) error {
	tb.Helper()
	if os.Geteuid() != 0 {
		return errors.New("the user is not root")
	}
	folder := filepath.Join(tb.TempDir(), "mailhelm-test-"+uuid.NewString())
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-euc", attempt, "sh", folder) //nolint:gosec // a constant command
	cmd.Env = append(os.Environ(), "boot="+boot)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %.500s", err, said)
	}
	return nil
}

// patience is how long a copy may take to start, and each command in it to end.
const patience = 3 * time.Minute

// New starts a copy whose first process is the given program, [Idle] or [Systemd]. Without root or
// without a program that it needs, it skips the test, which is a failure in CI.
func New(tb testing.TB, first []string) *Machine {
	tb.Helper()
	if os.Geteuid() != 0 {
		enginetest.SkipMissing(tb, "TESTS ON A COPY OF THE MACHINE SKIPPED: only root can mount an overlay file system")
	}
	needed := []string{"unshare", "nsenter", "dpkg"}
	if slices.Equal(first, Systemd) {
		needed = append(needed, systemd)
	}
	for _, program := range needed {
		if _, err := exec.LookPath(program); err != nil {
			enginetest.SkipMissing(tb, "TESTS ON A COPY OF THE MACHINE SKIPPED: "+program+" is not installed")
		}
	}
	m := &Machine{tb: tb, folder: filepath.Join(tb.TempDir(), "mailhelm-test-"+uuid.NewString())}
	if err := os.Mkdir(m.folder, 0o700); err != nil {
		tb.Fatal(err)
	}
	m.start(first)
	m.await("the copy starts", func() bool {
		pid, err := os.ReadFile(m.folder + ".pid")
		m.pid = strings.TrimSpace(string(pid))
		return err == nil && m.pid != ""
	})
	if slices.Equal(first, Systemd) {
		m.await("systemd answers", func() bool {
			_, err := os.Stat(m.Path("/run/systemd/private"))
			return err == nil
		})
		m.Run("systemctl is-system-running --wait || systemctl --failed")
	}
	return m
}

// start starts the keeper of the copy. At the end of a failed test it logs what the first process
// said.
func (m *Machine) start(first []string) {
	m.tb.Helper()
	said, err := os.Create(m.folder + ".log")
	if err != nil {
		m.tb.Fatal(err)
	}
	cmd := exec.Command("sh", append([]string{"-c", keeper, "sh", m.folder}, first...)...) //nolint:gosec // a constant command
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "boot="+boot), said, said
	input, err := cmd.StdinPipe()
	if err != nil {
		m.tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		m.tb.Fatal(err)
	}
	m.tb.Cleanup(func() {
		_ = input.Close()
		if err := cmd.Wait(); err != nil {
			m.tb.Errorf("the end of the copy: %v", err)
		}
		_ = said.Close()
		if text, err := os.ReadFile(said.Name()); m.tb.Failed() && err == nil {
			m.tb.Logf("the copy said:\n%.4000s", text)
		}
	})
}

// await waits until a condition is met that another process brings about.
func (m *Machine) await(what string, met func() bool) {
	m.tb.Helper()
	const pause = 5 * time.Millisecond
	for range patience / pause {
		if met() {
			return
		}
		time.Sleep(pause) //nolint:forbidigo // another process tells nothing
	}
	m.tb.Fatalf("in vain the test waits that %s", what)
}

// Path returns the path by which this machine reaches a file of the copy.
func (m *Machine) Path(name string) string { return filepath.Join("/proc", m.pid, "root", name) }

// Write writes a file of root in the copy.
func (m *Machine) Write(name string, content []byte, mode os.FileMode) {
	m.tb.Helper()
	if err := os.WriteFile(m.Path(name), content, mode); err != nil {
		m.tb.Fatal(err)
	}
}

// Try runs a command line as root in the folder /root of the copy, as sh does, and returns what it
// prints.
func (m *Machine) Try(line string) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.tb.Context()), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nsenter", "--target", m.pid, "--mount", "--net", "--pid", "--ipc", "--uts", "--cgroup", "--root", "sh", "-euc", "cd\n"+line) //nolint:gosec // the commands of a test
	cmd.Env = []string{"HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.WaitDelay = time.Second // a service that the command starts may keep the output open
	printed, err := cmd.CombinedOutput()
	return string(printed), err
}

// Run runs a command line as Try does. The command must succeed.
func (m *Machine) Run(line string) string {
	m.tb.Helper()
	printed, err := m.Try(line)
	if err != nil {
		m.tb.Fatalf("%s: %v\n%s", line, err, printed)
	}
	return printed
}
