package demomail

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/smtp"
	"net/textproto"

	"github.com/mailhelm/mailhelm/core"
)

// API calls the demo's own API, as a program of the customer would.
type API struct{ BaseURL, Key string }

// box is an inbox as the API returns it.
type box struct {
	ID       string `json:"id"`
	Address  string `json:"address"`
	Label    string `json:"label"`
	Messages int    `json:"message_count"`
	Dropped  int    `json:"dropped_count"`
}

// entry is a message of the log of received mail.
type entry struct{ ID, Subject, Outcome string }

// receivingDomain is a receiving domain as the API returns it.
type receivingDomain struct {
	Domain  string
	Status  string
	Webhook *struct {
		URL      string   `json:"url"`
		Patterns []string `json:"allow_patterns"`
		Spam     string   `json:"spam_posture"`
		Virus    string   `json:"virus_posture"`
		Status   string   `json:"status"`
	}
}

func (a API) mint(ctx context.Context, body map[string]any) (box, error) {
	var made box
	return made, a.call(ctx, http.MethodPost, "/v1/inboxes", body, &made)
}

// inboxes returns the live inboxes of the organization.
func (a API) inboxes(ctx context.Context) ([]box, error) {
	var list struct{ Data []box }
	err := a.call(ctx, http.MethodGet, "/v1/inboxes?status=active&scope=org", nil, &list)
	return list.Data, err
}

func (a API) domain(ctx context.Context) (receivingDomain, error) {
	var d receivingDomain
	return d, a.call(ctx, http.MethodGet, "/v1/inbound/domains/"+Domain, nil, &d)
}

// domains returns all receiving domains of the organization.
func (a API) domains(ctx context.Context) ([]receivingDomain, error) {
	var list struct{ Data []receivingDomain }
	err := a.call(ctx, http.MethodGet, "/v1/inbound/domains", nil, &list)
	return list.Data, err
}

// log returns the newest messages of the demo's receiving domain.
func (a API) log(ctx context.Context) ([]entry, error) {
	var list struct{ Data []entry }
	err := a.call(ctx, http.MethodGet, "/v1/inbound/messages?domain="+Domain, nil, &list)
	return list.Data, err
}

// call makes a call and decodes its answer into the value at into, if that is not nil. A refused
// call is a *core.Error with the code of the problem document.
func (a API) call(ctx context.Context, method, path string, body, into any) error {
	var content io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, a.BaseURL+path, content)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+a.Key)
	r.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: patience}
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusBadRequest {
		var problem struct {
			Code   core.Code `json:"code"`
			Detail string    `json:"detail"`
		}
		if err := json.Unmarshal(answer, &problem); err != nil || problem.Code == "" {
			return fmt.Errorf("%s %s: %s", method, path, response.Status)
		}
		return &core.Error{Code: problem.Code, Message: fmt.Sprintf("%s %s: %s", method, path, problem.Detail)}
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// errRefused is wrapped by the error for a recipient that the SMTP server refuses.
var errRefused = errors.New("the SMTP server refuses the recipient")

// send sends a letter to the SMTP server of the demo.
func (s Seeder) send(ctx context.Context, l letter, to string) error {
	raw, err := s.Names.compose(l, to, s.Clock())
	if err != nil {
		return err
	}
	dialer := net.Dialer{Timeout: sendTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", s.SMTP)
	if err != nil {
		return err
	}
	if err := conn.SetDeadline(core.SystemClock().Add(sendTimeout)); err != nil {
		return errors.Join(err, conn.Close())
	}
	c, err := smtp.NewClient(conn, "localhost")
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	defer c.Close() //nolint:errcheck // the replies to the commands count
	if err := c.Mail(l.from.Address); err != nil {
		return err
	}
	if err := c.Rcpt(to); err != nil {
		if reply, ok := errors.AsType[*textproto.Error](err); ok && reply.Code >= 500 {
			return fmt.Errorf("%w: %w", errRefused, err)
		}
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(raw); err != nil {
		return err
	}
	return errors.Join(w.Close(), c.Quit())
}
