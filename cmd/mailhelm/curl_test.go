package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// curlPath returns a value for PATH under which a command finds curl. If curl is not
// installed, it adds a link to this test program, which then acts as curl.
func curlPath(t *testing.T) string {
	t.Helper()
	path := os.Getenv("PATH")
	if _, err := exec.LookPath("curl"); err == nil {
		return path
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "curl")); err != nil {
		t.Fatal(err)
	}
	return dir + string(os.PathListSeparator) + path
}

// curl acts as the program curl, with only the options in the commands that the demo
// prints. It returns the exit status.
func curl(args []string) int {
	var address, user string
	var data []string
	header := http.Header{}
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-sS":
		case "-u":
			i++
			user = args[i]
		case "-d":
			i++
			data = append(data, args[i])
		case "-H":
			i++
			name, value, _ := strings.Cut(args[i], ": ")
			header.Set(name, value)
		default:
			address = args[i]
		}
	}
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(strings.Join(data, "&")))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	r.Header = header
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if name, password, ok := strings.Cut(user, ":"); ok {
		r.SetBasicAuth(name, password)
	}
	a, err := (&http.Client{Timeout: endTimeout}).Do(r)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer a.Body.Close()
	io.Copy(os.Stdout, a.Body) //nolint:errcheck // what is missing shows
	return 0
}
