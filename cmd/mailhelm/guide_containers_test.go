package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"go.yaml.in/yaml/v3"
)

// TestGuideOfContainers runs the commands of the guide for containers without a container: what
// Docker would run in the image runs here, with the variables of the image and of the compose
// file, a PostgreSQL and a Redis. TestGuidesOnAMachine in conformance/operations runs the image in
// full, with Podman. The images of PostgreSQL and Redis that the compose file names are not run.
func TestGuideOfContainers(t *testing.T) {
	t.Parallel()
	c := newContainer(t)
	g := openGuide(t, "install.md")
	g.handle = c.docker
	g.section("Container")
	for len(g.commands) > 0 {
		g.run("")
	}
	c.stop()
	g.section("Compose")
	for len(g.commands) > 0 {
		g.run("")
	}
	if len(c.done) != 6 || !strings.Contains(c.said, "password") {
		t.Errorf("the test ran %q, and the last command printed %s", c.done, c.said)
	}
	c.stop()
}

// container is what a container of Mailhelm has.
type container struct {
	t       *testing.T
	port    int
	machine *strings.Replacer
	// image has the variables of the image, and composed those of the compose file.
	image, composed map[string]string
	environment     map[string]string // of the running one
	server          *process
	done            []string
	said            string
}

func newContainer(t *testing.T) *container {
	t.Helper()
	c := &container{t: t, port: firstOfSixPorts(t)}
	var pairs []string
	for i, of := range []string{":8080", ":8081", ":8082", ":8083", ":2525", ":9090"} {
		pairs = append(pairs, "_ADDR="+of+"\n", fmt.Sprintf("_ADDR=127.0.0.1:%d\n", c.port+i))
	}
	c.machine = strings.NewReplacer(append(pairs, "=/data\n", "="+filepath.Join(enginetest.Folder(t), "data")+"\n")...)
	c.image = map[string]string{"MAILHELM_DNS_SERVERS": "none"}
	for line := range strings.Lines(c.machine.Replace(c.packaged("image.env"))) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		c.image[name] = value
	}
	var file struct {
		Services map[string]struct{ Environment map[string]string }
	}
	if err := yaml.Unmarshal([]byte(c.packaged("compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	c.composed = maps.Clone(c.image)
	c.composed["MAILHELM_DATA"] += "-of-compose"
	for name, value := range file.Services["mailhelm"].Environment {
		c.composed[name] = regexp.MustCompile(`\$\{POSTGRES_PASSWORD[^}]*\}`).ReplaceAllString(value, "PASSWORD")
	}
	for name, have := range map[string]string{
		"MAILHELM_DATABASE_URL": "postgres://mailhelm:PASSWORD@postgres:5432/mailhelm?sslmode=disable", "MAILHELM_REDIS_URL": "redis://redis:6379/0",
	} {
		if c.composed[name] != have {
			t.Errorf("%s is %q, want %q", name, c.composed[name], have)
		}
	}
	c.composed["MAILHELM_DATABASE_URL"], c.composed["MAILHELM_REDIS_URL"] = enginetest.PostgresURL(t), enginetest.Redis(t).URL
	return c
}

func (c *container) packaged(name string) string {
	c.t.Helper()
	content, err := os.ReadFile(filepath.Join("packaging", "files", name))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(content)
}

// docker does what a command of docker does with the container.
func (c *container) docker(line string) bool {
	c.t.Helper()
	c.done = append(c.done, line)
	switch {
	case line == "docker load -i mailhelm_VERSION_image.tar":
	case strings.HasPrefix(line, "docker run -d ") && strings.HasSuffix(line, " mailhelm:VERSION"):
		c.start(c.image)
	case line == "docker compose up -d --wait":
		c.start(c.composed)
	default:
		inside := regexp.MustCompile(`^docker (compose )?exec mailhelm /mailhelm (.*)$`).FindStringSubmatch(line)
		if inside == nil {
			return false
		}
		r := runWith(c.t, c.environment, wordsOf(inside[2])...)
		if c.said = r.stdout; r.status != cli.ExitOK {
			c.t.Errorf("%s: status %d\n%s%s", line, r.status, r.stdout, r.stderr)
		}
	}
	return true
}

// start starts the command of the image, serve, and asks the health check of the compose file.
func (c *container) start(environment map[string]string) {
	c.t.Helper()
	c.environment = environment
	var variables []string
	for name, value := range environment {
		variables = append(variables, name+"="+value)
	}
	c.server = launch(c.t, variables, "serve")
	c.server.awaits(`"msg":"ready"`)
	if r := runWith(c.t, environment, "ready"); r.status != cli.ExitOK {
		c.t.Errorf("the health check: %d %s", r.status, r.stderr)
	}
}

func (c *container) stop() { c.server.exit() }
