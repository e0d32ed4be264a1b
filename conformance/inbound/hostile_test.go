package inbound

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/textproto"
	"net/url"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"golang.org/x/net/html"
)

const (
	// mostMemory is how much more memory the process may use while it receives the hostile
	// messages and shows them. The messages have 445 MB in all.
	mostMemory = 400 << 20
	// maxMessage is the largest message that the server accepts.
	maxMessage = 25 << 20
)

// TestHostileMessages sends every hostile message to the server over SMTP. It must accept each
// or refuse it with the code of a rule. All accepted messages must then be readable by REST,
// by the pull link and on the dashboard, where none of them may run a script; the server must
// log no error, use little memory, and still receive mail.
func TestHostileMessages(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	for name, postgres := range map[string]bool{"sqlite": false, "postgres": true} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // see above
			var log serialLog
			p := product.Start(t, product.Options{Postgres: postgres, Log: &log})
			box := mintShared(t, p)
			memory := watchMemory()
			accepted := sendHostile(t, p, box.Address, !postgres)
			if err := send(p.SMTPAddr, box.Address); err != nil {
				t.Fatalf("after hostile messages: %v", err)
			}
			got := pollAll(t, p, box.PollURL, p.Live.APIKey, len(accepted)+1)
			if diff := cmp.Diff(got, pollAll(t, p, box.PullURL, "", len(accepted)+1)); diff != "" {
				t.Errorf("the pull link shows other messages: %s", diff)
			}
			showAll(t, p, box, got, accepted)
			if peak := memory(); peak > mostMemory {
				t.Errorf("the process used up to %d MB more", peak>>20)
			} else {
				t.Logf("the process used up to %d MB more", peak>>20)
			}
			if errors := log.errors(); errors != "" {
				t.Errorf("the log has errors: %s", errors)
			}
		})
	}
}

// serialLog is a log in memory.
type serialLog struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *serialLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

// errors returns the lines with errors.
func (l *serialLog) errors() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found strings.Builder
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, `"level":"ERROR"`) {
			found.WriteString(line)
		}
	}
	return found.String()
}

// watchMemory measures how much memory the objects of the process take, until the returned
// function is called. That returns the greatest increase.
func watchMemory() func() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	used := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64() + sample[1].Value.Uint64()
	}
	before, peak, stop, ended := used(), uint64(0), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticks := time.NewTicker(20 * time.Millisecond)
		defer ticks.Stop()
		for {
			peak = max(peak, used())
			select {
			case <-ticks.C:
			case <-stop:
				return
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-ended
		return max(peak, before) - before
	}
}

// box is a temporary inbox.
type box struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	PollURL string `json:"poll_url"`
	PullURL string `json:"pull_url"`
}

// mintShared creates an inbox that the user of the dashboard sees.
func mintShared(t *testing.T, p *product.Product) box {
	t.Helper()
	answer := p.Send(t, product.Request{Method: http.MethodPost, URL: p.BaseURL + "/v1/inboxes", Bearer: p.Live.APIKey, Body: `{"ttl":3600,"visibility":"org"}`})
	var made box
	if err := json.Unmarshal([]byte(answer.Body), &made); err != nil || answer.Status != http.StatusCreated {
		t.Fatalf("mint: %d %s", answer.Status, answer.Body)
	}
	return made
}

// wire is an SMTP connection that sends messages as they are.
type wire struct {
	net.Conn
	text *textproto.Reader
}

func dial(t *testing.T, p *product.Product) *wire {
	t.Helper()
	conn, err := net.Dial("tcp", p.SMTPAddr)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{conn, textproto.NewReader(bufio.NewReader(conn))}
	w.command(t, "", 220)
	w.command(t, "EHLO client.example", 250)
	return w
}

// command sends a command and returns the reply. It fails for another code, unless the code is
// 0.
func (w *wire) command(t *testing.T, line string, code int) string {
	t.Helper()
	if line != "" {
		if _, err := io.WriteString(w, line+"\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	got, text, err := w.text.ReadResponse(0)
	if got == 0 || code != 0 && got != code {
		t.Fatalf("%q: %d %s, %v", line, got, text, err)
	}
	return strconv.Itoa(got) + " " + text
}

// refusal returns the reply that a message must get; "250" for one that is accepted.
func refusal(s inboundtest.Sample, raw []byte) string {
	switch {
	case s.Message.Size() > maxMessage:
		return "552 5.3.4"
	case bytes.ContainsAny(bytes.ReplaceAll(raw, []byte("\r\n"), nil), "\r\n"):
		return "554 5.6.0"
	case bytes.Count(raw, []byte("\r\nReceived:")) > 100: // a loop
		return "554 5.4.6"
	}
	return "250 2.0.0"
}

// sendHostile sends all samples and returns those that were accepted, by the id of the message.
// With whole, it also transfers a message of 64 MB to its end; the others are refused by their
// declared size.
func sendHostile(t *testing.T, p *product.Product, to string, whole bool) map[string]inboundtest.Sample {
	t.Helper()
	accepted := map[string]inboundtest.Sample{}
	w := dial(t, p)
	defer func() { _ = w.Close() }()
	for _, s := range inboundtest.Hostile() {
		large := s.Message.Size() > maxMessage
		if large && !(whole && s.Name == "line-64-mb") {
			if got := w.command(t, fmt.Sprintf("MAIL FROM:<a@acme.test> SIZE=%d", s.Message.Size()), 0); !strings.HasPrefix(got, "552 5.3.4") {
				t.Errorf("%s: %s", s.Name, got)
			}
			continue
		}
		w.command(t, "MAIL FROM:<a@acme.test>", 250)
		w.command(t, "RCPT TO:<"+to+">", 250)
		w.command(t, "DATA", 354)
		var raw []byte
		body := s.Message.Reader()
		if !large {
			raw = s.Message.Bytes()
			body = bytes.NewReader(stuffed(raw))
		}
		if _, err := io.Copy(w, body); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		got, want := w.command(t, "\r\n.", 0), refusal(s, raw)
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %s", s.Name, got, want)
		}
		switch {
		case strings.HasPrefix(got, "250"):
			accepted[got[strings.LastIndexByte(got, ' ')+1:]] = s
		case strings.HasPrefix(got, "554"): // which ends the connection
			_ = w.Close()
			w = dial(t, p)
		}
	}
	if len(accepted) < 130 {
		t.Errorf("%d messages were accepted", len(accepted))
	}
	return accepted
}

// stuffed returns a message with a second dot at the beginning of lines with one (RFC 5321
// section 4.5.2).
func stuffed(raw []byte) []byte {
	raw = bytes.ReplaceAll(raw, []byte("\r\n."), []byte("\r\n.."))
	if bytes.HasPrefix(raw, []byte(".")) {
		raw = append([]byte("."), raw...)
	}
	return raw
}

// shown is a message of a poll.
type shown struct {
	MessageID string `json:"message_id"`
	Cursor    string `json:"cursor"`
	RawURL    string `json:"raw_url"`
	Message   struct {
		Subject     string `json:"subject"`
		HTMLBody    string `json:"html_body"`
		HTMLBodyURL string `json:"html_body_url"`
		TextBodyURL string `json:"text_body_url"`
		Attachments []struct {
			Filename string `json:"filename"`
			URL      string `json:"url"`
		} `json:"attachments"`
	} `json:"message"`
}

// pollAll reads a number of messages, waiting for them.
func pollAll(t *testing.T, p *product.Product, address, key string, n int) []shown {
	t.Helper()
	var all []shown
	for after, patience := "0", time.Now().Add(time.Minute); len(all) < n; {
		answer := p.Send(t, product.Request{URL: address + "?wait=5&after=" + after, Bearer: key})
		var page struct {
			Messages []shown
			Cursor   string
		}
		if err := json.Unmarshal([]byte(answer.Body), &page); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("poll: %d %.300s, %v", answer.Status, answer.Body, err)
		}
		if len(page.Messages) == 0 && time.Now().After(patience) {
			t.Fatalf("%d messages of %d are there", len(all), n)
		}
		all, after = append(all, page.Messages...), page.Cursor
	}
	return all
}

// showAll opens the pages of all messages and the links to their contents.
func showAll(t *testing.T, p *product.Product, in box, all []shown, accepted map[string]inboundtest.Sample) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := *p.HTTP
	browser.Jar = jar
	form := url.Values{"email": {p.UserEmail}, "password": {p.UserPassword}}.Encode()
	signedIn := product.Send(t, &browser, product.Request{Method: http.MethodPost, URL: p.AppURL + "/login", Body: form, Header: map[string]string{
		"Content-Type": "application/x-www-form-urlencoded", "Origin": p.AppURL,
	}})
	if signedIn.Status != http.StatusSeeOther {
		t.Fatalf("sign in: %d", signedIn.Status)
	}
	path := p.AppURL + "/dashboard/inboxes/" + in.ID
	checkPage(t, "the inbox", product.Send(t, &browser, product.Request{URL: path}))
	for _, m := range all {
		s := accepted[m.MessageID]
		if m.Message.Subject != s.Want.Subject && s.Name != "" {
			t.Errorf("%s: the subject is %.100q", s.Name, m.Message.Subject)
		}
		page := path + "/messages/" + m.Cursor
		checkPage(t, s.Name, product.Send(t, &browser, product.Request{URL: page}))
		if m.Message.HTMLBody != "" {
			frame := product.Send(t, &browser, product.Request{URL: page + "/html", Header: map[string]string{"Sec-Fetch-Dest": "iframe"}})
			if policy := frame.Header.Get("Content-Security-Policy"); frame.Status != http.StatusOK || !strings.HasPrefix(policy, "sandbox; default-src 'none'; ") {
				t.Errorf("%s: frame: %d %q", s.Name, frame.Status, policy)
			}
			checkMarkup(t, s.Name, frame.Body)
			if alone := product.Send(t, &browser, product.Request{URL: page + "/html", Header: map[string]string{"Sec-Fetch-Dest": "document"}}); alone.Status != http.StatusSeeOther {
				t.Errorf("%s: the HTML alone: %d", s.Name, alone.Status)
			}
		}
		links := []string{m.RawURL, m.Message.TextBodyURL, m.Message.HTMLBodyURL}
		for _, a := range m.Message.Attachments[:min(3, len(m.Message.Attachments))] {
			links = append(links, a.URL)
		}
		for _, link := range links {
			checkLink(t, p, s.Name, link)
		}
	}
}

// checkLink asks for the content of a link, if there is one.
func checkLink(t *testing.T, p *product.Product, name, link string) {
	t.Helper()
	if link == "" {
		return
	}
	got := p.Send(t, product.Request{Method: http.MethodHead, URL: link})
	if got.Status != http.StatusOK || !strings.HasPrefix(link, p.FetchURL+"/o/") || got.Header.Get("X-Content-Type-Options") != "nosniff" ||
		got.Header.Get("Content-Security-Policy") != "sandbox; default-src 'none'" || !strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("%s: link: %d %v", name, got.Status, got.Header)
	}
}

// checkPage fails the test if a page of the dashboard has content that a message could have
// brought and a browser would run or load.
func checkPage(t *testing.T, name string, page product.Answer) {
	t.Helper()
	policy := page.Header.Get("Content-Security-Policy")
	if page.Status != http.StatusOK || !strings.Contains(policy, "default-src 'none'") && !strings.Contains(policy, "script-src 'self'") {
		t.Errorf("%s: page: %d, policy %q", name, page.Status, policy)
		return
	}
	checkMarkup(t, name, page.Body)
	root, err := html.Parse(strings.NewReader(page.Body))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "style":
				t.Errorf("%s: <%s> has the attribute %s", name, n.Data, a.Key)
			case (a.Key == "src" || a.Key == "action" || a.Key == "data") && !strings.HasPrefix(a.Val, "/"):
				t.Errorf("%s: <%s> loads %.100q", name, n.Data, a.Val)
			case a.Key == "href" && !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "http://localhost:"):
				t.Errorf("%s: <%s> links to %.100q", name, n.Data, a.Val)
			}
		}
	}
}

// checkMarkup fails the test if HTML has an element or an attribute that runs a script of a
// message.
func checkMarkup(t *testing.T, name, text string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "srcdoc" || strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
				t.Errorf("%s: <%s> has the attribute %s=%.100q", name, n.Data, a.Key, a.Val)
			}
		}
		if n.Data == "iframe" && !hasAttribute(n, "sandbox") || n.Data == "object" || n.Data == "embed" || n.Data == "script" && !hasAttribute(n, "src") {
			t.Errorf("%s: <%s> could run something", name, n.Data)
		}
	}
}

func hasAttribute(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key && (key != "sandbox" || a.Val == "") {
			return true
		}
	}
	return false
}
