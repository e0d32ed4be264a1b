package scanningtest

import (
	"encoding/hex"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// MaxStream is the largest message in bytes that the tests' clamd accepts.
const MaxStream = 1 << 20

// MalwareMarker is a text that the tests' clamd takes for the malware MarkerName, in the
// message itself and in attachments.
const (
	MalwareMarker = "mailhelm-malware-of-the-tests"
	MarkerName    = "Mailhelm.Test.Marker.UNOFFICIAL"
)

// EICARName is the name that the tests' clamd has for [EICAR]. Names of signatures that are
// not from the makers of ClamAV end in UNOFFICIAL.
const EICARName = "Eicar-Test-Signature.UNOFFICIAL"

// eicarMD5 and eicarSize describe the file of [EICAR].
const (
	eicarMD5  = "44d88612fea8a8f36de82e1278abb02f"
	eicarSize = 68
)

// EICAR returns the test file that virus scanners agreed to report. It is put together when
// the test runs, so that no scanner reports this source file or the test program.
func EICAR() string {
	reversed := []rune(`*H+H$!ELIF-TSET-SURIVITNA-DRADNATS-RACIE$}7)CC7)^P(45XZP\4[PA@%P!O5X`)
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	return string(reversed)
}

// Clamd is a running clamd. It listens on a Unix socket and on a port of the loopback.
type Clamd struct {
	scanner
	// Socket is the path of the Unix socket, TCP the address host:port.
	Socket, TCP string
}

// StartClamd starts a clamd that ends with the test. If clamd is not installed the test is
// skipped, or fails if CI is "true".
func StartClamd(tb testing.TB) *Clamd {
	tb.Helper()
	require(tb, "clamd", "clamav-daemon")
	c := &Clamd{scanner: scanner{program: "clamd", ready: "Self checking disabled", dir: enginetest.Folder(tb)}}
	c.Socket = filepath.Join(c.dir, "clamd.sock")
	c.args = []string{"--foreground", "--config-file=" + filepath.Join(c.dir, "clamd.conf")}
	var err error
	for range startAttempts {
		if err = c.configure(tb); err != nil {
			break
		}
		if err = c.start(); err == nil {
			break
		}
	}
	if err != nil {
		tb.Fatalf("scanningtest: clamd: %v", err)
	}
	tb.Cleanup(c.Stop)
	tb.Logf("clamd started in %v", c.Startup)
	return c
}

// Start starts the scanner again after Stop, at the same addresses.
func (c *Clamd) Start(tb testing.TB) {
	tb.Helper()
	if err := c.start(); err != nil {
		tb.Fatalf("scanningtest: clamd: %v", err)
	}
}

// configure writes the configuration and the signatures.
func (c *Clamd) configure(tb testing.TB) error {
	port, err := freePort(tb)
	if err != nil {
		return err
	}
	c.TCP = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	for name, text := range map[string]string{
		// The fields of a signature: name, any type of file, any offset, the bytes.
		"marker.ndb": "Mailhelm.Test.Marker:0:*:" + hex.EncodeToString([]byte(MalwareMarker)) + "\n",
		"eicar.hdb":  fmt.Sprintf("%s:%d:Eicar-Test-Signature\n", eicarMD5, eicarSize),
		"clamd.conf": fmt.Sprintf(clamdConfiguration, c.dir, c.Socket, port, MaxStream),
	} {
		if err := c.write(name, text); err != nil {
			return err
		}
	}
	return nil
}

// clamdConfiguration has places for the folder, the Unix socket, the port and the largest
// message.
const clamdConfiguration = `DatabaseDirectory %[1]s
TemporaryDirectory %[1]s
LocalSocket %[2]s
LocalSocketMode 600
FixStaleSocket yes
TCPAddr 127.0.0.1
TCPSocket %[3]d
StreamMaxLength %[4]d
MaxThreads 2
ReadTimeout 10
SelfCheck 0
`
