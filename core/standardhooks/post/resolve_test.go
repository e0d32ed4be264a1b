package post_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/mailhelm/mailhelm/core/outbound/outboundtest"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/core/standardhooks/post"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	silent := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name server")
	}}
	for _, c := range []struct {
		name, answer, url string
		resolver          *net.Resolver
		want              standardhooks.Problem
	}{
		{name: "public", answer: "93.184.215.14", url: "https://example.com/x", want: standardhooks.NoProblem},
		{name: "one of two is private", answer: "93.184.215.14,10.0.0.1", url: "https://example.com", want: standardhooks.RefusedAddress},
		{name: "metadata service", answer: "169.254.169.254", url: "https://example.com", want: standardhooks.RefusedAddress},
		{name: "another port", answer: "93.184.215.14", url: "https://example.com:8443", want: standardhooks.RefusedAddress},
		{name: "allowed network", answer: "127.0.0.1", url: "https://example.com:8443", want: standardhooks.NoProblem},
		{name: "unknown", answer: "", url: "https://example.com", want: standardhooks.UnknownHost},
		{name: "no host", answer: "", url: "https://", want: standardhooks.NotSent},
		{name: "no name server", url: "https://example.com", resolver: silent, want: standardhooks.NotConnected},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.resolver == nil {
				c.resolver = outboundtest.NewNames(t, c.answer).Resolver()
			}
			if got := post.New(post.Config{Allowed: loopback, Resolver: c.resolver}).Resolve(t.Context(), c.url); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
