package rest_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/conformance/readme"
	"github.com/mailhelm/mailhelm/rest/beacon/script"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// signIns has, for each example of a server, a program that signs a visitor in and out with
// the functions of the example, and prints the header fields of the answers. The program of
// PHP is a server, because PHP sends no header otherwise.
var signIns = map[string]struct {
	file, text string
	command    []string
}{
	"go": {"main.go", `package main

import (
	"fmt"
	"log"
	"net/http/httptest"

	"example.com/website/website"
)

func main() {
	answer := httptest.NewRecorder()
	if err := website.SetVisitor(answer, "ada@example.com", "customer-7"); err != nil {
		log.Fatal(err)
	}
	website.ClearVisitor(answer)
	for _, cookie := range answer.Header()["Set-Cookie"] {
		fmt.Println("Set-Cookie: " + cookie)
	}
}
`, []string{"go", "run", "."}},
	"nodejs": {"main.mjs", `
import { createServer } from "node:http";
import { clearVisitor, setVisitor } from "./visitor.mjs";
const server = createServer(async (request, response) => {
  await setVisitor(response, "ada@example.com", "customer-7");
  clearVisitor(response);
  response.end();
}).listen(0, "127.0.0.1", async () => {
  const answer = await fetch("http://127.0.0.1:" + server.address().port);
  for (const cookie of answer.headers.getSetCookie()) console.log("Set-Cookie: " + cookie);
  process.exit();
});
`, []string{"node", "main.mjs"}},
	"python": {"main.py", `
import visitor
for header in (visitor.visitor_cookie("ada@example.com", "customer-7"), visitor.cleared_visitor_cookie()):
    print(*header, sep=": ")
`, []string{"python3", "main.py"}},
	"php": {"main.php", `<?php
require 'visitor.php';
set_visitor('ada@example.com', 'customer-7');
clear_visitor();
`, []string{"php", "-S", "127.0.0.1:0", "main.php"}},
	"ruby": {"main.rb", `
require_relative "visitor"
[Visitor.cookie_for("ada@example.com", "customer-7"), Visitor.cleared_cookie].each { |value| puts "Set-Cookie: #{value}" }
`, []string{"ruby", "main.rb"}},
	"shell": {"main.sh", `
. ./visitor.sh
set_visitor ada@example.com customer-7 && clear_visitor
`, []string{"sh", "main.sh"}},
}

// TestServerExamples runs the example of each language against a product. Each must set the
// cookie with the visitor id of the same contact, with the attributes that the guide names, and
// remove it with the same domain and path. With a wrong API key, none may set a cookie.
func TestServerExamples(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{Postgres: enginetest.Full()})
	servers := script.Servers(p.BaseURL)
	if len(servers) != len(signIns) || len(servers) != 6 {
		t.Fatalf("there are %d examples and %d programs, want 6", len(servers), len(signIns))
	}
	visitor := ""
	for _, s := range servers {
		set, removed := signIn(t, s, p.Live.APIKey)
		if set == nil || removed == nil {
			continue
		}
		if visitor == "" {
			visitor = set.Value
		}
		if !regexp.MustCompile(`^vis_[0-9a-hjkmnp-tv-z]{26}$`).MatchString(set.Value) || set.Value != visitor || set.MaxAge != 34560000 {
			t.Errorf("%s: the cookie is %v, want one with %q", s.Name, set, visitor)
		}
		if removed.Value != "" || removed.MaxAge >= 0 {
			t.Errorf("%s: the cookie is removed by %v", s.Name, removed)
		}
		for _, c := range []*http.Cookie{set, removed} {
			if c.Name != "so_vid" || c.Domain != "example.com" || c.Path != "/" || !c.Secure || c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
				t.Errorf("%s: the attributes of %v", s.Name, c)
			}
		}
		if s.ID != "go" { // two runs of the linker take seconds
			if set, _ := signIn(t, s, "wrong"); set != nil && set.Value != "" {
				t.Errorf("%s: a wrong API key sets %v", s.Name, set)
			}
		}
	}
}

// signIn runs the program of an example and returns the two cookies that it prints. It returns
// nil for those that it does not print, after failing the test unless the API key is "wrong".
func signIn(t *testing.T, s script.Server, key string) (set, removed *http.Cookie) {
	t.Helper()
	program := signIns[s.ID]
	if _, err := exec.LookPath(program.command[0]); err != nil {
		enginetest.SkipMissing(t, program.command[0]+" is not on this machine: an example of a server cannot run")
	}
	home := t.TempDir()
	example := s.File
	if s.ID == "go" {
		example = "website/" + s.File
		write(t, filepath.Join(home, "go.mod"), "module example.com/website\n\ngo 1.22\n")
	}
	write(t, filepath.Join(home, example), s.Code)
	write(t, filepath.Join(home, program.file), program.text)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program.command[0], program.command[1:]...)
	cmd.Dir, cmd.Env = home, append(os.Environ(), "MAILHELM_API_KEY="+key)
	run := func() (string, error) { out, err := cmd.CombinedOutput(); return string(out), err }
	if s.ID == "php" {
		run = func() (string, error) { return askPHP(ctx, cmd) }
	}
	out, err := run()
	if key != "wrong" && err != nil {
		t.Errorf("%s: %v\n%s", s.Name, err, out)
	}
	var cookies []*http.Cookie
	for _, m := range regexp.MustCompile(`(?m)^Set-Cookie: (.*)$`).FindAllStringSubmatch(out, -1) {
		c, err := http.ParseSetCookie(strings.TrimSpace(m[1]))
		if err != nil {
			t.Fatalf("%s: %v: %s", s.Name, err, m[1])
		}
		cookies = append(cookies, c)
	}
	if len(cookies) == 2 {
		return cookies[0], cookies[1]
	}
	if key != "wrong" {
		t.Errorf("%s sets %d cookies, want 2:\n%s", s.Name, len(cookies), out)
	}
	return nil, nil
}

// write writes a file, and the folder that it is in.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// askPHP starts a server of PHP, sends one request, and returns the header of the answer as
// lines. It stops the server.
func askPHP(ctx context.Context, cmd *exec.Cmd) (string, error) {
	out, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // it was killed
	}()
	first, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", err
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(first)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return first, err
	}
	client := http.Client{Timeout: 30 * time.Second}
	answer, err := client.Do(request)
	if err != nil {
		return first, err
	}
	defer answer.Body.Close()
	var lines strings.Builder
	for _, cookie := range answer.Header["Set-Cookie"] {
		fmt.Fprintf(&lines, "Set-Cookie: %s\n", cookie)
	}
	return lines.String(), nil
}

// TestWebsiteGuide runs the commands of the guide about website visitors, as the documentation
// of the product has them. The event of the guide must become an activity with the properties
// that the guide shows.
func TestWebsiteGuide(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			enginetest.SkipMissing(t, program+" is not on this machine: the commands of the guide cannot run")
		}
	}
	p := product.Start(t, product.Options{Postgres: enginetest.Full()})
	key, err := p.Site.Settings.Create(t.Context(), p.OrgID)
	if err != nil {
		t.Fatal(err)
	}
	p.Site.Changed(t.Context())
	guide := p.Send(t, product.Request{URL: p.AppURL + "/docs/guides/website-visitors.md"}).Body
	for _, s := range script.Servers(p.BaseURL) {
		if !strings.Contains(guide, s.Code) {
			t.Errorf("the guide lacks the example for %s", s.Name)
		}
	}
	commands := readme.Blocks(guide, "shell")
	if len(commands) != 4 {
		t.Fatalf("the guide has the commands %q, want identify, types, event and activities", commands)
	}
	environment := append(os.Environ(), "API_KEY="+p.Live.APIKey, "SITE_KEY="+key.Value)
	home := t.TempDir()
	run := func(command string) string {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir, cmd.Env = home, environment
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s\n%v\n%s", command, err, out)
		}
		return string(out)
	}
	visitor := regexp.MustCompile(`vis_[0-9a-z]{26}`).FindString(run(commands[0]))
	if visitor == "" {
		t.Fatal("the first command prints no visitor id")
	}
	environment = append(environment, "VISITOR_ID="+visitor)
	run(commands[1])
	types, err := os.ReadFile(filepath.Join(home, "mailhelm.d.ts"))
	if err != nil || !bytes.Equal(types, script.Types()) {
		t.Errorf("the types are not those of the script: %v", err)
	}
	if out := run(commands[2]); out != "" {
		t.Errorf("the answer to the event is %q", out)
	}
	want := regexp.MustCompile(`"name": ?"site_cart_updated".*"properties": ?\{"path": ?"/cart", ?"items": ?3\}.*"source": ?"site"|"source": ?"site".*"properties": ?\{"path": ?"/cart", ?"items": ?3\}`)
	product.Await(t, 20*time.Second, func() error {
		if out := run(commands[3]); !want.MatchString(out) {
			return fmt.Errorf("no activity of the event: %s", out)
		}
		return nil
	})
}
