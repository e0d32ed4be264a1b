package bridge

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
)

// maxAnswer is the largest answer of the endpoint in bytes.
const maxAnswer = 32 << 20

// call passes a request to the endpoint and its answer to the client. The client gets
// exactly one answer, except after it cancelled the request.
func (b *Bridge) call(ctx context.Context, m message) {
	answer, err := b.authorized(ctx, m)
	if err != nil {
		b.explain(ctx, m, err)
		return
	}
	defer answer.Body.Close()
	answered, err := b.passOn(m, answer)
	if answered {
		return
	}
	if err == nil {
		err = refusalOf(answer)
	}
	b.explain(ctx, m, err)
}

// notify passes a notification to the endpoint. Nothing can be answered to it.
func (b *Bridge) notify(ctx context.Context, m message) {
	if answer, err := b.authorized(ctx, m); err == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection is reused
		_ = answer.Body.Close()
	}
}

// authorized sends a message with an access token. If the endpoint refuses the token, it
// sends the message once more with another one. The caller closes the body of the answer.
func (b *Bridge) authorized(ctx context.Context, m message) (*http.Response, error) {
	token, err := b.Tokens.Token(ctx)
	if err != nil {
		return nil, &signInError{err}
	}
	answer, err := b.post(ctx, m, token)
	if err != nil || answer.StatusCode != http.StatusUnauthorized {
		return answer, err
	}
	_ = answer.Body.Close() // the status is all that matters
	token, err = b.Tokens.Renew(ctx, token)
	if err != nil {
		return nil, &signInError{err}
	}
	return b.post(ctx, m, token)
}

// post sends a message in one HTTP request, with the headers of its protocol revision.
func (b *Bridge) post(ctx context.Context, m message, token string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.Address, bytes.NewReader(m.line))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	b.state.mu.Lock()
	revision, session := b.state.revision, b.state.session
	b.state.mu.Unlock()
	if m.Method == methodInitialize {
		revision, session = "", ""
	}
	if m.Params.Meta.Revision != "" {
		// From 2026-07-28 on each message names its revision, and headers repeat the method.
		revision = m.Params.Meta.Revision
		r.Header.Set("Mcp-Method", m.Method)
		if name := m.name(); name != "" {
			r.Header.Set("Mcp-Name", headerValue(name))
		}
	}
	for name, value := range map[string]string{"MCP-Protocol-Version": revision, "Mcp-Session-Id": session} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	return b.HTTP.Do(r)
}

// passOn passes the messages of an answer to the client, as they arrive. It reports whether
// the answer to the request m was among them.
func (b *Bridge) passOn(m message, answer *http.Response) (bool, error) {
	answered := false
	deliver := func(raw []byte) error {
		got, err := readMessage(raw)
		if err != nil {
			return err
		}
		if got.isAnswerTo(m.ID) {
			answered = true
			b.remember(m, got, answer.Header)
		}
		if got.Method != "" || got.isAnswerTo(m.ID) {
			b.write(got.line)
		}
		return nil
	}
	body := io.LimitReader(answer.Body, maxAnswer)
	switch media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); media {
	case "application/json":
		raw, err := io.ReadAll(body)
		if err == nil {
			err = deliver(raw)
		}
		return answered, err
	case "text/event-stream":
		err := readEvents(body, deliver)
		return answered, err
	}
	return false, nil
}

// remember keeps the revision and the session that the answer to initialize states.
func (b *Bridge) remember(m, got message, h http.Header) {
	if m.Method != methodInitialize {
		return
	}
	b.state.mu.Lock()
	defer b.state.mu.Unlock()
	b.state.revision, b.state.session = got.Result.Revision, h.Get("Mcp-Session-Id")
}
