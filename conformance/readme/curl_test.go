package readme

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// actAsCurl is an environment variable. If it is set, the test binary behaves like the
// program curl, which some machines do not have.
const actAsCurl = "MAILHELM_TEST_ACT_AS_CURL"

// shellPaths returns values of the environment variable PATH, keyed by name. The README's
// commands are run with each of them. With "stand-in" the command curl is the test binary.
// With "curl" it is the installed program; this entry is missing if curl is not installed.
func shellPaths(t *testing.T) map[string]string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "curl")); err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{"stand-in": dir + string(os.PathListSeparator) + os.Getenv("PATH")}
	if _, err := exec.LookPath("curl"); err == nil {
		paths["curl"] = os.Getenv("PATH")
	}
	return paths
}

// curl implements the program curl with the options that the README and the guides use and an
// address of HTTP or SMTP. It returns an exit code of curl: 0 if there was an HTTP response or
// the mail was accepted, 2 for an unknown option, 7, 55 or 56 for a failed connection.
func curl(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if slices.Contains(args, "--mail-from") {
		if err := curlMail(args, stdin); err != nil {
			fmt.Fprintln(stderr, "curl:", err)
			return 55
		}
		return 0
	}
	request, err := curlRequest(args)
	if err != nil {
		fmt.Fprintln(stderr, "curl:", err)
		return 2
	}
	client := &http.Client{Timeout: 30 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		fmt.Fprintln(stderr, "curl:", err)
		return 7
	}
	defer response.Body.Close()
	if _, err := io.Copy(stdout, response.Body); err != nil {
		fmt.Fprintln(stderr, "curl:", err)
		return 56
	}
	return 0
}

func curlRequest(args []string) (*http.Request, error) {
	var address, method string
	var data, user []string
	header := http.Header{}
	for len(args) > 0 {
		option := args[0]
		args = args[1:]
		if option == "-sS" {
			continue
		}
		if !strings.HasPrefix(option, "-") {
			address = option
			continue
		}
		if len(args) == 0 {
			return nil, fmt.Errorf("%s needs a value", option)
		}
		value := args[0]
		args = args[1:]
		switch option {
		case "-H":
			name, text, _ := strings.Cut(value, ":")
			header.Add(name, strings.TrimSpace(text))
		case "-d":
			data = append(data, value)
		case "-X":
			method = value
		case "--max-time":
		case "-u":
			user = strings.SplitN(value, ":", 2)
		default:
			return nil, fmt.Errorf("%s is not known", option)
		}
	}
	return newCurlRequest(method, address, header, data, user)
}

// curlMail sends the mail at stdin to the address smtp://host:port. With --crlf, which it
// requires, lines end with CRLF.
func curlMail(args []string, stdin io.Reader) error {
	values := map[string]string{}
	for i, option := range args {
		switch {
		case option == "--mail-from" || option == "--mail-rcpt" || option == "-T":
			values[option] = args[i+1]
		case strings.HasPrefix(option, "smtp://") || option == "--crlf":
			values[option[:6]] = option
		}
	}
	if values["-T"] != "-" || values["--crlf"] == "" {
		return errors.New("only -T - with --crlf is known")
	}
	text, err := io.ReadAll(stdin)
	if err != nil {
		return err
	}
	c, err := smtp.Dial(strings.TrimPrefix(values["smtp:/"], "smtp://"))
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // the replies to the commands count
	if err := errors.Join(c.Mail(values["--mail-from"]), c.Rcpt(values["--mail-rcpt"])); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, strings.ReplaceAll(string(text), "\n", "\r\n")); err != nil {
		return err
	}
	return errors.Join(w.Close(), c.Quit())
}

func newCurlRequest(method, address string, header http.Header, data, user []string) (*http.Request, error) {
	if _, err := url.Parse(address); err != nil {
		return nil, err
	}
	body := io.Reader(http.NoBody)
	if data != nil {
		method, body = cmp.Or(method, http.MethodPost), strings.NewReader(strings.Join(data, "&"))
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
	}
	request, err := http.NewRequest(method, address, body)
	if err != nil {
		return nil, err
	}
	request.Header = header
	if len(user) == 2 {
		request.SetBasicAuth(user[0], user[1])
	}
	return request, nil
}
