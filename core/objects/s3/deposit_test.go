package s3_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestDepositHeaders reads the size of an object, and whether a service encrypted it, from the
// headers of the answer.
func TestDepositHeaders(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		header, value string
		encrypted     bool
	}{
		"plain":                 {"x-amz-meta-note", "x", false},
		"encrypted by server":   {"x-amz-server-side-encryption", "aws:kms", false},
		"encrypted by Amazon":   {"x-amz-meta-x-amz-key-v2", "key", true},
		"with the first format": {"x-amz-meta-x-amz-key", "key", true},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(tc.header, tc.value)
			_, _ = io.WriteString(w, r.URL.Path)
		}))
		t.Cleanup(server.Close)
		d, err := buckets(t).OpenDeposit(t.Context(), bucketAt(server.URL, "ignored/"), "in box/ä+1")
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(d.Body)
		if err := errors.Join(err, d.Body.Close()); err != nil || string(content) != "/received-mail/in box/ä+1" || d.Size != int64(len(content)) || d.Encrypted != tc.encrypted {
			t.Errorf("%s: %q, %+v, %v", name, content, d, err)
		}
	}
}

func TestDepositFailures(t *testing.T) {
	t.Parallel()
	server := enginetest.S3(t)
	if _, err := buckets(t).OpenDeposit(t.Context(), bucketAt(server.URL, ""), "in/absent"); !core.IsNotFound(err) {
		t.Errorf("a missing object: %v", err)
	}
	b := bucketAt(server.URL, "")
	b.Secret = "wrong"
	if _, err := buckets(t).OpenDeposit(t.Context(), b, "in/absent"); !errors.Is(err, objects.ErrUnavailable) {
		t.Errorf("a wrong secret: %v", err)
	}
}
