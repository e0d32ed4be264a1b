package s3_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	aws "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/objectstest"
	"github.com/mailhelm/mailhelm/core/objects/s3"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// buckets returns Buckets that may reach servers on loopback.
func buckets(t *testing.T) *s3.Buckets {
	t.Helper()
	b := s3.New(s3.Config{Allowed: loopback, Clock: core.SystemClock})
	t.Cleanup(b.Close)
	return b
}

// bucketAt returns the description of the bucket of a test server.
func bucketAt(url, prefix string) objects.Bucket {
	return objects.Bucket{
		Endpoint: url, Region: enginetest.S3Region, Name: enginetest.S3Bucket, Prefix: prefix, PathStyle: true,
		AccessKeyID: enginetest.S3AccessKeyID, Secret: enginetest.S3Secret,
	}
}

// web makes the requests for links.
var web = http.Client{Timeout: time.Minute}

func get(t *testing.T, url string) objectstest.Answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := web.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return objectstest.Answer{Status: answer.StatusCode, Header: answer.Header, Content: string(content)}
}

// TestContract runs the tests of all stores on a real S3 server.
func TestContract(t *testing.T) {
	t.Parallel()
	server, org := enginetest.S3(t), core.NewID()
	for _, prefix := range []string{"", "mail/received/"} {
		t.Run("prefix "+prefix, func(t *testing.T) {
			t.Parallel()
			store := buckets(t).Open("id-1", bucketAt(server.URL, prefix))
			if store.ID() != "id-1" {
				t.Errorf("ID = %q", store.ID())
			}
			objectstest.Run(t, objectstest.Subject{Store: objects.Within(org, store), OrgID: org, Now: core.SystemClock(), Get: get})
		})
	}
}

// TestVersionsAreDeleted deletes objects of a bucket that keeps versions. Delete leaves the versions,
// and DeleteVersions deletes them, also of an object that was deleted before, and not those of an
// object whose name begins with the same text.
func TestVersionsAreDeleted(t *testing.T) {
	t.Parallel()
	server, org := enginetest.S3Versioned(t), core.NewID()
	client := aws.New(aws.Options{
		BaseEndpoint: &server.URL, Region: enginetest.S3Region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(enginetest.S3AccessKeyID, enginetest.S3Secret, ""),
	})
	bucket := enginetest.S3Bucket
	if _, err := client.PutBucketVersioning(t.Context(), &aws.PutBucketVersioningInput{
		Bucket: &bucket, VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	}); err != nil {
		t.Fatal(err)
	}
	versions := func() (n int) {
		t.Helper()
		out, err := client.ListObjectVersions(t.Context(), &aws.ListObjectVersionsInput{Bucket: &bucket})
		if err != nil {
			t.Fatal(err)
		}
		return len(out.Versions) + len(out.DeleteMarkers)
	}
	store := objects.Within(org, buckets(t).Open("id-1", bucketAt(server.URL, "mail/")))
	message := core.NewID()
	key, other := objects.AttachmentKey(org, message, 1), objects.AttachmentKey(org, message, 10)
	for range 2 {
		objectstest.Put(t, store, key, "content")
	}
	objectstest.Put(t, store, other, "content")
	if err := store.Delete(t.Context(), key); err != nil || versions() != 4 {
		t.Errorf("after Delete: %d versions, %v", versions(), err)
	}
	if err := objects.DeleteVersions(t.Context(), store, key); err != nil || versions() != 1 {
		t.Errorf("after DeleteVersions: %d versions, %v", versions(), err)
	}
	if _, found := objectstest.Content(t, store, other); !found {
		t.Error("another object is deleted")
	}
}

// TestBodies stores bodies that can seek from the place where they are.
func TestBodies(t *testing.T) {
	t.Parallel()
	org := core.NewID()
	store := buckets(t).Open("", bucketAt(enginetest.S3(t).URL, ""))
	body := strings.NewReader("headers and the rest")
	if _, err := body.Seek(8, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	key := objects.RawKey(org, "m")
	if err := store.Put(t.Context(), key, body, 12, ""); err != nil {
		t.Fatal(err)
	}
	if got, _ := objectstest.Content(t, store, key); got != "and the rest" {
		t.Errorf("content = %q", got)
	}
}

// TestRefusals checks the causes of failures that a real server gives.
func TestRefusals(t *testing.T) {
	t.Parallel()
	server := enginetest.S3(t)
	for name, tc := range map[string]struct {
		change func(*objects.Bucket)
		want   objects.Cause
	}{
		"wrong secret": {func(b *objects.Bucket) { b.Secret = "another" }, objects.BadKey},
		"unknown key":  {func(b *objects.Bucket) { b.AccessKeyID = "unknown" }, objects.BadKey},
		"no bucket":    {func(b *objects.Bucket) { b.Name = "no-such-bucket" }, objects.NoBucket},
		"other region": {func(b *objects.Bucket) { b.Region = "us-west-2" }, objects.OtherRegion},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := bucketAt(server.URL, "")
			tc.change(&b)
			checkFailures(t, buckets(t).Open("", b), tc.want)
		})
	}
}

// checkFailures checks that each call fails with a cause.
func checkFailures(t *testing.T, store objects.Store, want objects.Cause) {
	t.Helper()
	key := objects.RawKey(core.NewID(), "m")
	_, openErr := store.Open(t.Context(), key)
	for call, err := range map[string]error{
		"Put": store.Put(t.Context(), key, strings.NewReader("x"), 1, ""), "Open": openErr, "Delete": store.Delete(t.Context(), key),
	} {
		f, ok := errors.AsType[*objects.Failure](err)
		if !ok || f.Cause != want || !errors.Is(err, objects.ErrUnavailable) {
			t.Errorf("%s: %v, want %s", call, err, want)
		}
	}
}

// TestAnswers checks the causes of answers that the test server does not give.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		code   string
		want   objects.Cause
	}{
		"denied":           {403, "AccessDenied", objects.Denied},
		"without a code":   {403, "", objects.Denied},
		"redirect":         {301, "PermanentRedirect", objects.OtherRegion},
		"redirect, no xml": {307, "", objects.OtherRegion},
		"clock":            {403, "RequestTimeTooSkewed", objects.WrongClock},
		"down":             {503, "SlowDown", objects.OtherCause},
		"broken":           {500, "", objects.OtherCause},
		"hostile code":     {500, "</p><script>", objects.OtherCause},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			visited := false
			elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visited = true }))
			t.Cleanup(elsewhere.Close)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", elsewhere.URL)
				w.WriteHeader(tc.status)
				if tc.code != "" {
					_, _ = io.WriteString(w, "<Error><Code>"+strings.ReplaceAll(tc.code, "<", "&lt;")+"</Code><Message>m</Message></Error>")
				}
			}))
			t.Cleanup(server.Close)
			store := buckets(t).Open("", bucketAt(server.URL, ""))
			checkFailures(t, store, tc.want)
			_, err := store.Open(t.Context(), objects.RawKey(core.NewID(), "m"))
			if f, ok := errors.AsType[*objects.Failure](err); !ok || f.Status != tc.status || strings.Contains(f.Code, "<") {
				t.Errorf("%+v", f)
			}
			if visited {
				t.Error("a redirect was followed")
			}
		})
	}
}

// TestUnreachable checks failures without an answer: an address that the operator does not
// allow, a closed port, a certificate that is not trusted, and a server that never answers.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	closed := httptest.NewServer(nil)
	closed.Close()
	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() { close(release); silent.Close() })
	for name, tc := range map[string]struct {
		config s3.Config
		url    string
		want   objects.Cause
	}{
		"not allowed":   {s3.Config{}, secure.URL, objects.NotAllowed},
		"certificate":   {s3.Config{Allowed: loopback}, secure.URL, objects.BadCertificate},
		"closed":        {s3.Config{Allowed: loopback}, closed.URL, objects.NotConnected},
		"never answers": {s3.Config{Allowed: loopback, Timeout: 50 * time.Millisecond}, silent.URL, objects.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.config.Clock = core.SystemClock
			checkFailures(t, s3.New(tc.config).Open("", bucketAt(tc.url, "")), tc.want)
		})
	}
}

// TestStoppedServer stops the server in the middle of use. The caller's own deadline is no
// failure of the bucket.
func TestStoppedServer(t *testing.T) {
	t.Parallel()
	server, org := enginetest.S3(t), core.NewID()
	store, key := buckets(t).Open("", bucketAt(server.URL, "")), objects.RawKey(org, "m")
	objectstest.Put(t, store, key, "kept")
	server.Stop()
	checkFailures(t, store, objects.NotConnected)
	server.Start(t)
	if got, _ := objectstest.Content(t, store, key); got != "kept" {
		t.Errorf("after the restart: %q", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.Open(ended, key); !errors.Is(err, context.Canceled) || errors.Is(err, objects.ErrUnavailable) {
		t.Errorf("a canceled call: %v", err)
	}
}

// TestCutBody checks that an object whose connection breaks is not taken for complete.
func TestCutBody(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "the beginning")
	}))
	t.Cleanup(server.Close)
	body, err := buckets(t).Open("", bucketAt(server.URL, "")).Open(t.Context(), objects.RawKey(core.NewID(), "m"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(body)
	if !errors.Is(err, objects.ErrUnavailable) || body.Close() != nil {
		t.Errorf("reading a cut body: %v", err)
	}
}

// TestRequests checks what the server is asked: the style of addresses, the encryption, and
// that a secret is in no request.
func TestRequests(t *testing.T) {
	t.Parallel()
	requests := make(chan *http.Request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests <- r }))
	t.Cleanup(server.Close)
	key := objects.RawKey("0190a4f2-1111-7000-8000-000000000001", "m")
	b := bucketAt(server.URL, "p/")
	b.Encryption, b.KMSKeyID = objects.EncryptionKMS, "key-1"
	if err := buckets(t).Open("", b).Put(t.Context(), key, strings.NewReader("x"), 1, "text/html; a=b"); err != nil {
		t.Fatal(err)
	}
	r := <-requests
	h := r.Header
	if r.URL.Path != "/received-mail/p/"+key || h.Get("X-Amz-Server-Side-Encryption") != "aws:kms" || h.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id") != "key-1" ||
		h.Get("Content-Type") != "text/html" || h.Get("X-Amz-Content-Sha256") != "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881" {
		t.Errorf("%s %v", r.URL, h)
	}
	for name, values := range h {
		if strings.Contains(strings.Join(values, " "), enginetest.S3Secret) {
			t.Errorf("the secret is in %s", name)
		}
	}
	link := func(b objects.Bucket) string {
		t.Helper()
		url, err := buckets(t).Open("", b).Link(t.Context(), key, objects.Link{Until: core.SystemClock().Add(365 * 24 * time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		return url
	}
	amazon := objects.Bucket{Region: "eu-central-1", Name: "b-1", AccessKeyID: "AKIAIOSFODNN7EXAMPLE", Secret: "secret"}
	if got := link(amazon); !strings.HasPrefix(got, "https://b-1.s3.eu-central-1.amazonaws.com/"+key+"?") || !strings.Contains(got, "X-Amz-Expires=604800") {
		t.Errorf("link = %s", got)
	}
	amazon.PathStyle = true
	if got := link(amazon); !strings.HasPrefix(got, "https://s3.eu-central-1.amazonaws.com/b-1/") {
		t.Errorf("link = %s", got)
	}
}
