package wire_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/sending/wire"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// BenchmarkWire measures one read of a contact, called directly on the simulator and over
// the imitated API without a socket. It includes the request, the signature, the routing
// and the JSON of both sides. It excludes the SDK's own middleware. Decisions 4 and 37 in
// core/doc/decisions are based on it.
func BenchmarkWire(b *testing.B) {
	s := openWithPeople(b, 10_000)
	read := func(read func(ctx context.Context) (sending.Contact, error)) func(b *testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if c, err := read(b.Context()); err != nil || len(c.Preferences) != 2 {
					b.Fatal(c, err)
				}
			}
		}
	}
	const email = "person-5000@example.com"
	direct := func(ctx context.Context) (sending.Contact, error) { return s.Contact(ctx, "org", email) }
	signed := &wireClient{http: &http.Client{Transport: wire.Transport(wire.Config{Account: s, OrgID: "org"})}}
	b.Run("direct", read(direct))
	b.Run("wire", read(func(ctx context.Context) (sending.Contact, error) { return signed.contact(ctx, email) }))
}

// openWithPeople returns a simulated account whose contact list has two topics and n
// contacts.
func openWithPeople(b *testing.B, n int) *simulator.Simulator {
	b.Helper()
	s, err := simulator.Open(filepath.Join(b.TempDir(), "account.db"), simulator.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	people := make([]sending.Contact, n)
	for i := range people {
		people[i] = sending.Contact{
			Email:       fmt.Sprintf("person-%d@example.com", i),
			Preferences: map[string]sending.Subscription{"news": sending.OptIn, "offers": sending.OptOut},
		}
	}
	topics := []sending.Topic{
		{Name: "news", DisplayName: "news", Default: sending.OptOut}, {Name: "offers", DisplayName: "offers", Default: sending.OptOut},
	}
	if err := s.Seed(b.Context(), "org", simulator.Setup{List: &sending.ContactList{Name: "people", Topics: topics}, Contacts: people}); err != nil {
		b.Fatal(err)
	}
	return s
}

// wireContact has the members of the response of GetContact.
type wireContact struct {
	ContactListName      string
	EmailAddress         string
	TopicPreferences     []wirePreference
	UnsubscribeAll       bool
	CreatedTimestamp     float64
	LastUpdatedTimestamp float64
}

type wirePreference struct{ TopicName, SubscriptionStatus string }

type wireClient struct{ http *http.Client }

func (c *wireClient) contact(ctx context.Context, email string) (sending.Contact, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"https://email.us-east-1.amazonaws.com/v2/email/contact-lists/people/contacts/"+url.PathEscape(email), nil)
	if err != nil {
		return sending.Contact{}, err
	}
	sign(r)
	response, err := c.http.Do(r)
	if err != nil {
		return sending.Contact{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return sending.Contact{}, err
	}
	var answer wireContact
	if err := json.Unmarshal(body, &answer); err != nil {
		return sending.Contact{}, err
	}
	contact := sending.Contact{
		Email: answer.EmailAddress, UnsubscribeAll: answer.UnsubscribeAll,
		Preferences: make(map[string]sending.Subscription, len(answer.TopicPreferences)),
	}
	for _, p := range answer.TopicPreferences {
		contact.Preferences[p.TopicName] = sending.Subscription(p.SubscriptionStatus)
	}
	return contact, nil
}

// sign signs a request in the way of AWS Signature Version 4, with a fixed signing key.
func sign(r *http.Request) {
	empty := sha256.Sum256(nil)
	now := time.Now().UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", now)
	var canonical bytes.Buffer
	for _, line := range []string{r.Method, r.URL.EscapedPath(), "", "host:" + r.URL.Host, "x-amz-date:" + now, "", "host;x-amz-date", hex.EncodeToString(empty[:])} {
		canonical.WriteString(line + "\n")
	}
	digest := sha256.Sum256(canonical.Bytes())
	mac := hmac.New(sha256.New, empty[:])
	mac.Write([]byte("AWS4-HMAC-SHA256\n" + now + "\n" + now[:8] + "/us-east-1/ses/aws4_request\n" + hex.EncodeToString(digest[:])))
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"+now[:8]+
		"/us-east-1/ses/aws4_request, SignedHeaders=host;x-amz-date, Signature="+hex.EncodeToString(mac.Sum(nil)))
}
