package operations

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// traefik is what Mailhelm needs of the documented configuration of Traefik.
type traefik struct {
	HTTP struct {
		Routers  map[string]struct{ Rule, Service string }
		Services map[string]struct {
			LoadBalancer struct {
				Servers     []struct{ URL string }
				HealthCheck struct {
					Path string
					Port int
				} `yaml:"healthCheck"`
				Transport string `yaml:"serversTransport"`
			} `yaml:"loadBalancer"`
		}
		Transports map[string]struct {
			Timeouts struct {
				Idle string `yaml:"idleConnTimeout"`
			} `yaml:"forwardingTimeouts"`
		} `yaml:"serversTransports"`
	}
}

// traefikProgram returns the program that MAILHELM_TRAEFIK names, or "". Traefik is not in Debian,
// and to build it takes ten minutes, so CI does not run it.
func traefikProgram() string { return os.Getenv("MAILHELM_TRAEFIK") }

// startTraefik starts Traefik with the documented configuration, the entry point that it names and
// a certificate of the test in place of a resolver.
func startTraefik(t *testing.T, b behind) *proxy {
	t.Helper()
	dir, p := t.TempDir(), &proxy{address: freeAddress(t)}
	certificate, key := p.certify(t, dir)
	text := b.document(t, "traefik.yaml", "tls:\n        certResolver: letsencrypt", "tls: {}", "port: "+adminPort, "port: "+b.admin)
	text += fmt.Sprintf("tls:\n  certificates:\n    - certFile: %s\n      keyFile: %s\n", certificate, key)
	path := filepath.Join(dir, "mailhelm.yaml")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	p.start(t, traefikProgram(), "--entryPoints.websecure.address="+p.address, "--providers.file.filename="+path,
		"--global.checkNewVersion=false", "--global.sendAnonymousUsage=false", "--log.level=WARN")
	return p
}

// TestTraefikHasTheNames checks that the documented configuration of Traefik is YAML with the
// names, servers and health check of the other proxies. Traefik itself reads it in the other tests
// if MAILHELM_TRAEFIK names its program.
func TestTraefikHasTheNames(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(documented, "traefik.yaml"))
	must(t, err)
	var c traefik
	must(t, yaml.Unmarshal(text, &c))
	router := c.HTTP.Routers["mailhelm"]
	for _, name := range names {
		if !strings.Contains(router.Rule, "Host(`"+name+"`)") {
			t.Errorf("the rule lacks %s: %s", name, router.Rule)
		}
	}
	service := c.HTTP.Services[router.Service].LoadBalancer
	if len(service.Servers) != 2 || service.Servers[0].URL != "http://"+firstServer || service.Servers[1].URL != "http://"+secondServer {
		t.Errorf("servers %v", service.Servers)
	}
	if service.HealthCheck.Path != "/readyz" || service.HealthCheck.Port != 9090 {
		t.Errorf("health check %+v", service.HealthCheck)
	}
	idle, err := time.ParseDuration(c.HTTP.Transports[service.Transport].Timeouts.Idle)
	if err != nil || idle >= documentedDelay {
		t.Errorf("idle connections end after %s, %v; the drain delay is %s", idle, err, documentedDelay)
	}
}
