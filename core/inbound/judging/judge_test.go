package judging_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"testing"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/judging"
	"github.com/mailhelm/mailhelm/core/mailauth"
)

// scanner is a scanner that reads the message and returns a result of its own.
type scanner func(text string) (inbound.Finding, error)

func (s scanner) Scan(_ context.Context, _ inbound.Envelope, raw io.Reader, size int64) (inbound.Finding, error) {
	text, err := io.ReadAll(raw)
	if err != nil || int64(len(text)) != size {
		return inbound.Finding{}, errors.New("another size")
	}
	return s(string(text))
}

// authenticator checks what it gets, and finds nothing but an SPF pass.
type authenticator struct{ t *testing.T }

func (a authenticator) Authenticate(_ context.Context, in mailauth.Input) mailauth.Result {
	text, err := io.ReadAll(io.NewSectionReader(in.Message, 0, in.Size))
	if err != nil || string(text) != "raw" || in.Helo != "h" || in.MailFrom != "a@x.test" || in.RemoteIP != netip.MustParseAddr("192.0.2.1") {
		a.t.Errorf("the input is %+v, %v", in, err)
	}
	return mailauth.Result{SPF: mailauth.SPF{Outcome: mailauth.OutcomePass}, DKIM: mailauth.DKIM{Outcome: mailauth.OutcomeNone}}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	answers := func(v inbound.Verdict) inbound.Scanner {
		return scanner(func(string) (inbound.Finding, error) { return inbound.Finding{Verdict: v}, nil })
	}
	for name, tc := range map[string]struct {
		spam, virus inbound.Scanner
		want        inbound.Verdicts
	}{
		"no scanners":  {nil, nil, inbound.Verdicts{Spam: inbound.Disabled, Virus: inbound.Disabled}},
		"both answer":  {answers(inbound.Gray), answers(inbound.Fail), inbound.Verdicts{Spam: inbound.Gray, Virus: inbound.Fail}},
		"one is gone":  {scanner(func(string) (inbound.Finding, error) { return inbound.Finding{}, io.EOF }), answers(inbound.Pass), inbound.Verdicts{Spam: inbound.ProcessingFailed, Virus: inbound.Pass}},
		"one panicked": {answers(inbound.Pass), scanner(func(string) (inbound.Finding, error) { panic("no scanner") }), inbound.Verdicts{Spam: inbound.Pass, Virus: inbound.ProcessingFailed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judging.Judge{Authenticator: authenticator{t}, Spam: tc.spam, Virus: tc.virus, Log: slog.New(slog.DiscardHandler)}
			tc.want.SPF, tc.want.DKIM, tc.want.DMARC = inbound.Pass, inbound.Gray, inbound.Disabled
			got := j.Judge(t.Context(), inbound.Envelope{Helo: "h", Sender: "a@x.test", RemoteIP: netip.MustParseAddr("192.0.2.1")}, []byte("raw"))
			if got != tc.want {
				t.Errorf("verdicts %+v, want %+v", got, tc.want)
			}
		})
	}
}
