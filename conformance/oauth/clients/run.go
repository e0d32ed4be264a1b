package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/npm"
)

// runTimeout is the time after which a program is killed.
const runTimeout = 60 * time.Second

// Person has the functions that act as the person at the browser, on the product's pages.
type Person struct {
	// Visit opens an authorization request, approves or denies it, and returns the address
	// that the browser is then redirected to.
	Visit func(address string) string
	// EndGrants revokes every grant of the person. It may be nil if the program never
	// requests it.
	EndGrants func()
	// Outlive moves the clock of the product by the lifetime of an access token. It may be
	// nil if the program never requests it.
	Outlive func()
}

// message is one JSON line on the standard output of a program that [Run] started. The
// script talk.mjs writes these lines.
type message struct {
	// Visit is the address that the person must open. The reply is the address of the
	// redirect that follows.
	Visit string `json:"visit"`
	// EndGrants requests that all grants of the person are revoked. The reply is true.
	EndGrants bool `json:"endGrants"`
	// Outlive requests that the lifetime of an access token passes. The reply is true.
	Outlive bool `json:"outlive"`
	// Seen is the program's report, which must be its last message.
	Seen json.RawMessage `json:"seen"`
}

// Run starts a program, sends it the task as JSON, and decodes its report into seen, which
// must be a pointer. It performs what the program requests by calling the functions of
// person, in the caller's goroutine. The test fails if the program ends without a report.
func Run(t testing.TB, program string, task any, person Person, seen any) {
	t.Helper()
	cmd, complaints := command(t, program)
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	report, err := converse(in, out, task, person)
	if err := errors.Join(err, in.Close(), drain(out), cmd.Wait()); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, complaints.String())
	}
	if err := json.Unmarshal(report, seen); err != nil {
		t.Fatalf("%s: %v in %s", program, err, report)
	}
}

// converse sends the task to the client program, answers the program's messages and returns
// its report.
func converse(in io.Writer, out io.Reader, task any, person Person) (json.RawMessage, error) {
	to, from := json.NewEncoder(in), bufio.NewScanner(out)
	if err := to.Encode(task); err != nil {
		return nil, err
	}
	for from.Scan() {
		var m message
		if err := json.Unmarshal(from.Bytes(), &m); err != nil {
			return nil, fmt.Errorf("%w in %s", err, from.Bytes())
		}
		var err error
		switch {
		case m.Seen != nil:
			return m.Seen, nil
		case m.EndGrants:
			person.EndGrants()
			err = to.Encode(true)
		case m.Outlive:
			person.Outlive()
			err = to.Encode(true)
		default:
			err = to.Encode(person.Visit(m.Visit))
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, errors.Join(errors.New("it ended without a report"), from.Err())
}

// drain reads the rest of the program's output. Call it before [exec.Cmd.Wait], which
// closes the pipe of the output.
func drain(out io.Reader) error {
	_, err := io.Copy(io.Discard, out)
	return err
}

// command returns a command that runs one of the Node.js programs. The program can connect
// only to the loopback and is killed when the test ends. The buffer collects its standard
// error.
func command(t testing.TB, program string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	dir, node := workshop(t), npm.Node(t)
	ctx, cancel := context.WithTimeout(t.Context(), runTimeout)
	t.Cleanup(cancel)
	args = append([]string{"--import", npm.Loopback(t), filepath.Join(dir, program)}, args...)
	cmd := exec.CommandContext(ctx, node, args...)
	complaints := &bytes.Buffer{}
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = dir, complaints, time.Second
	// The program does not inherit the caller's environment, so that it behaves the same
	// everywhere.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "NO_COLOR=1"}
	return cmd, complaints
}
