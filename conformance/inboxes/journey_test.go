package inboxes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// inbox is a temporary inbox as REST returns it.
type inbox struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	PollURL string `json:"poll_url"`
	PullURL string `json:"pull_url"`
}

// poll is the answer of a poll.
type poll struct {
	Messages []struct {
		MessageID  string            `json:"message_id"`
		Sender     string            `json:"sender"`
		Recipients []string          `json:"recipients"`
		Verdicts   map[string]string `json:"verdicts"`
		RawURL     string            `json:"raw_url"`
		Message    struct {
			Subject     string `json:"subject"`
			TextBody    string `json:"text_body"`
			Attachments []struct {
				Filename string `json:"filename"`
				URL      string `json:"url"`
			} `json:"attachments"`
		} `json:"message"`
		Extracted struct {
			Codes []string `json:"codes"`
			Links []struct {
				URL  string `json:"url"`
				Kind string `json:"kind"`
			} `json:"links"`
		} `json:"extracted"`
	} `json:"messages"`
	Cursor string `json:"cursor"`
}

// mint creates an inbox with the body of a request.
func mint(t *testing.T, p *product.Product, body string) inbox {
	t.Helper()
	answer := p.Send(t, product.Request{Method: http.MethodPost, URL: p.BaseURL + "/v1/inboxes", Bearer: p.Live.APIKey, Body: body})
	var made inbox
	if err := json.Unmarshal([]byte(answer.Body), &made); err != nil || answer.Status != http.StatusCreated || made.PullURL == "" {
		t.Fatalf("mint: %d %s", answer.Status, answer.Body)
	}
	return made
}

// read polls a URL, with the API key unless it is "".
func read(t *testing.T, p *product.Product, url, key string) poll {
	t.Helper()
	answer := p.Send(t, product.Request{URL: url, Bearer: key})
	var found poll
	if err := json.Unmarshal([]byte(answer.Body), &found); err != nil || answer.Status != http.StatusOK {
		t.Fatalf("poll: %d %s", answer.Status, answer.Body)
	}
	return found
}

// send sends a mail. The function of the same name in the standard library would refuse the
// self-signed certificate of the server.
func send(server, from, to, raw string) error {
	c, err := smtp.Dial(server)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // the replies to the commands count
	if err := errors.Join(c.Mail(from), c.Rcpt(to)); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, raw); err != nil {
		return err
	}
	return errors.Join(w.Close(), c.Quit())
}

// signUp is the mail of a sign-up form, with an attachment.
func signUp(to string) string {
	return strings.ReplaceAll(fmt.Sprintf(`From: Acme <noreply@acme.test>
To: %s
Subject: Your code is 482913
Date: Sun, 1 Mar 2026 12:00:00 +0000
Message-ID: <1@acme.test>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=utf-8

Your verification code is 482913.
Or open https://acme.test/confirm?token=abc to confirm your address.
--b
Content-Type: text/plain; name=terms.txt
Content-Disposition: attachment; filename=terms.txt

The terms
--b--
`, to), "\n", "\r\n")
}

// TestSignUp sends the mail of a sign-up form to an inbox while a poll waits, and reads it with
// its code, its link, its attachment and its source.
func TestSignUp(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		box := mint(t, p, `{"label":"sign-up"}`)
		found := make(chan poll, 1)
		go func() {
			answer, err := p.HTTP.Do(request(t, box.PollURL+"?wait=25&after=0", p.Live.APIKey))
			var got poll
			if err == nil {
				err = json.NewDecoder(answer.Body).Decode(&got)
				_ = answer.Body.Close()
			}
			if err != nil {
				t.Error(err)
			}
			found <- got
		}()
		raw := signUp(box.Address)
		if err := send(p.SMTPAddr, "bounces@acme.test", box.Address, raw); err != nil {
			t.Fatal(err)
		}
		got := <-found
		check(t, p, got, box, raw)
		check(t, p, read(t, p, box.PullURL, ""), box, raw)
		if rest := read(t, p, box.PollURL+"?after="+got.Cursor, p.Live.APIKey); len(rest.Messages) != 0 {
			t.Errorf("the message comes again: %+v", rest)
		}
	})
}

func request(t *testing.T, url, key string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	return r
}

// check checks the one message of a poll.
func check(t *testing.T, p *product.Product, got poll, box inbox, raw string) {
	t.Helper()
	if len(got.Messages) != 1 {
		t.Fatalf("polled %+v", got)
	}
	m := got.Messages[0]
	if m.Sender != "bounces@acme.test" || len(m.Recipients) != 1 || m.Recipients[0] != box.Address || m.Message.Subject != "Your code is 482913" ||
		!strings.HasPrefix(m.Message.TextBody, "Your verification code is 482913.\n") || m.Verdicts["spf"] != "DISABLED" || m.Verdicts["virus"] != "DISABLED" {
		t.Errorf("message %+v", m)
	}
	if len(m.Extracted.Codes) != 1 || m.Extracted.Codes[0] != "482913" {
		t.Errorf("codes %+v", m.Extracted.Codes)
	}
	if len(m.Extracted.Links) != 1 || m.Extracted.Links[0].Kind != "confirm" || m.Extracted.Links[0].URL != "https://acme.test/confirm?token=abc" {
		t.Errorf("links %+v", m.Extracted.Links)
	}
	if len(m.Message.Attachments) != 1 || m.Message.Attachments[0].Filename != "terms.txt" {
		t.Fatalf("attachments %+v", m.Message.Attachments)
	}
	file := p.Send(t, product.Request{URL: m.Message.Attachments[0].URL})
	if file.Status != http.StatusOK || file.Body != "The terms" || !strings.HasPrefix(file.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("attachment: %d %q %v", file.Status, file.Body, file.Header)
	}
	source := p.Send(t, product.Request{URL: m.RawURL})
	if !strings.HasPrefix(source.Body, "Received: from ") || !strings.HasSuffix(source.Body, raw) {
		t.Errorf("source: %d %q", source.Status, source.Body)
	}
}

// TestRecipientsOfOthers checks which recipients the SMTP server refuses.
func TestRecipientsOfOthers(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		box := mint(t, p, "")
		for to, want := range map[string]string{
			"never-minted@" + strings.SplitN(box.Address, "@", 2)[1]: `550 "5.1.1`, "someone@elsewhere.test": `550 "5.7.1`,
		} {
			err := send(p.SMTPAddr, "a@acme.test", to, "Subject: x\r\n\r\nx\r\n")
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", to, err, want)
			}
		}
	})
}
