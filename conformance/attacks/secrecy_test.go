package attacks_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// lines collects the log of a product. Several goroutines may write to it.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// TestLogsKeepSecretsAndForgedLinesOut checks the log after calls that fail in many ways.
// It must contain no secret, no email address of a contact or user, and no text that a
// caller has chosen.
func TestLogsKeepSecretsAndForgedLinesOut(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		log := &lines{}
		var secrets []string
		t.Run("product", func(t *testing.T) {
			secrets = sendSecrets(t, product.Start(t, product.Options{Log: log, Postgres: postgres}))
		})
		text := log.text.String()
		for _, secret := range append(secrets, "forged@line", "hidden-word") {
			if strings.Contains(text, secret) {
				t.Errorf("the log holds %s", secret)
			}
		}
		for line := range strings.Lines(text) {
			if !json.Valid([]byte(line)) {
				t.Errorf("not a line of ours: %.200s", line)
			}
		}
	})
}

// sendSecrets sends requests with secrets and made-up log lines in places such as paths and
// field names. It returns the texts that the log must not contain.
func sendSecrets(t *testing.T, p *product.Product) []string {
	t.Helper()
	api, agent := caller{p, p.Live.APIKey}, caller{p, p.Token(t, p.MCPURL)}
	nobody := caller{Product: p}
	const forged = "hidden-word\n{\"level\":\"ERROR\",\"msg\":\"forged@line\"}"
	quoted, err := json.Marshal(forged)
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{200, 503} {
		api.rest(t, "GET", "/v1/contacts/"+p.Contact, "").want(t, status)
		p.Simulator.Faults().Set(simulator.Fault{Kind: sending.Throttled})
	}
	api.rest(t, "PUT", "/v1/contacts/new-person@example.com", `{}`)
	agent.tool(t, "contacts_upsert", `{"email":"new-person@example.com"}`)
	p.Simulator.Faults().Clear()
	api.rest(t, "GET", "/v1/contacts?hidden-word%0aforged@line=1", "")
	api.rest(t, "GET", "/hidden-word%0aforged@line", "")
	api.rest(t, "PUT", "/v1/contacts/forged@line", `{"hidden-word":1}`)
	api.rest(t, "POST", "/v1/contacts", `{"email":`+string(quoted)+`,"attributes":{`+string(quoted)+`:1}}`)
	agent.tool(t, "hidden-word", string(quoted))
	agent.tool(t, "contacts_lookup", `{"email":`+string(quoted)+`}`)
	nobody.rest(t, "GET", "/v1/account", "", "Authorization", "Bearer "+p.Live.ClientSecret, "X-Request-Id", "hidden-word{}")
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	nobody.send(t, "POST", p.AuthURL+"/oauth/token", "grant_type=client_credentials&client_id="+p.Live.ClientSecret+"&client_secret=hidden-word", form...)
	nobody.send(t, "POST", p.AuthURL+"/oauth/token", "grant_type=hidden-word&scope=hidden-word&client_id="+p.Live.ClientID+"&client_secret="+p.Live.ClientSecret, form...)
	nobody.send(t, "POST", p.AuthURL+"/oauth/token", "grant_type=client_credentials&resource=hidden-word&client_id="+p.Live.ClientID+"&client_secret="+p.Live.ClientSecret, form...)
	nobody.send(t, "GET", p.FetchURL+"/hidden-word", "")
	agent.send(t, "GET", p.FetchURL+"/hidden-word", "")
	return []string{
		p.Live.APIKey[10:], p.Live.ClientSecret, agent.credential, agent.credential[len(agent.credential)-40:],
		p.Contact, "new-person@example.com", p.UserEmail, p.UserPassword,
	}
}
