package local

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/memory"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/outbound"
)

// maxFailure is the number of bytes of an answer with an error status that are read, and
// maxHeader the size of a header.
const (
	maxFailure = 4 << 10
	maxHeader  = 64 << 10
)

// scratchPrefix begins the names of temporary folders.
const scratchPrefix = "mailhelm-git-"

// newTransport returns an HTTP transport that connects with dial. It uses no proxy, because the
// address of the proxy would be checked and not that of the host.
func newTransport(cfg Config, dial func(ctx context.Context, network, address string) (net.Conn, error)) http.RoundTripper {
	return &http.Transport{
		DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: cfg.RootCAs, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: cfg.MaxTime,
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeader,
	}
}

// errTooMuch is the error of a read of more bytes than a fetch may have.
var errTooMuch = errors.New("more bytes than a fetch may have")

// errElsewhere is the error of a request to another server.
var errElsewhere = errors.New("redirected to another server")

// bounded is an HTTP transport to one server, with a limit for the bytes of all its answers.
type bounded struct {
	inner http.RoundTripper
	host  string
	left  int64
}

// RoundTrip refuses requests that leave the server or TLS, as a redirect might want.
func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" || r.URL.Host != b.host {
		return nil, errElsewhere
	}
	response, err := b.inner.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		// The client reads the whole body of a failure into memory.
		response.Body = readCloser{io.LimitReader(response.Body, maxFailure), response.Body}
		return response, nil
	}
	response.Body = readCloser{&countdown{response.Body, &b.left}, response.Body}
	return response, nil
}

// readCloser reads from one thing and closes another.
type readCloser struct {
	io.Reader
	io.Closer
}

// countdown fails after left bytes.
type countdown struct {
	inner io.Reader
	left  *int64
}

// Read reads from the inner reader.
func (c *countdown) Read(p []byte) (int, error) {
	n, err := c.inner.Read(p)
	if *c.left -= int64(n); *c.left < 0 {
		return 0, errTooMuch
	}
	return n, err
}

// remote is a server with a repository.
type remote struct {
	h         *Host
	client    transport.Transport
	auth      transport.AuthMethod
	location  string
	reference *packp.AdvRefs
}

// download fetches the newest commit of a repository on another server, without its history.
func (h *Host) download(ctx context.Context, c git.Connection) (*repository, error) {
	u, err := url.Parse(c.Location)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, git.Refuse("The address %s is no https URL without a user name.", core.Quote(c.Location))
	}
	inner := &bounded{h.transport, strings.TrimSuffix(u.Host, ":443"), h.cfg.MaxPack} // as the client writes it
	m := &remote{h: h, client: githttp.NewClient(&http.Client{Transport: inner}), location: c.Location}
	if c.Secret != "" {
		m.auth = &githttp.BasicAuth{Username: cmp.Or(c.Username, "git"), Password: c.Secret}
	}
	r, err := m.open(ctx)
	return r, m.explain(err)
}

// open downloads into a temporary folder, which closing the repository removes.
func (m *remote) open(ctx context.Context) (*repository, error) {
	session, err := m.client.NewUploadPackSession(m.endpoint(), m.auth)
	if err != nil {
		return nil, err
	}
	if m.reference, err = session.AdvertisedReferencesContext(ctx); err != nil {
		return nil, err
	}
	r := &repository{branches: map[string]hash{}}
	for name, id := range m.reference.References {
		if ref := plumbing.ReferenceName(name); ref.IsBranch() {
			r.branches[ref.Short()] = id
		}
	}
	if r.branch, r.head, err = defaultBranch(m.reference, r.branches); err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp(m.h.cfg.Scratch, scratchPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("temporary folder: %w", err)
	}
	store := filesystem.NewStorage(osfs.New(scratch, osfs.WithBoundOS()), cache.NewObjectLRU(cache.DefaultMaxSize))
	r.objects, r.push = store, m.push
	r.close = func() {
		_ = store.Close()
		if err := os.RemoveAll(scratch); err != nil {
			m.h.cfg.Log.Warn("temporary folder of a repository not removed", slog.String("folder", scratch), slog.Any("cause", err))
		}
	}
	if err := m.receive(ctx, session, r.head, store, scratch); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// endpoint returns the address of the repository. The client changes it after a redirect.
func (m *remote) endpoint() *transport.Endpoint {
	u, _ := url.Parse(m.location) // checked by download
	e := &transport.Endpoint{Protocol: u.Scheme, Host: u.Hostname(), Path: strings.TrimSuffix(u.EscapedPath(), "/")}
	if strings.Contains(e.Host, ":") {
		e.Host = "[" + e.Host + "]"
	}
	_, _ = fmt.Sscan(u.Port(), &e.Port) // a URL without a port has the usual one, 0
	return e
}

// defaultBranch returns the branch that HEAD names.
func defaultBranch(refs *packp.AdvRefs, branches map[string]hash) (string, hash, error) {
	for _, symbolic := range refs.Capabilities.Get(capability.SymRef) {
		from, to, _ := strings.Cut(symbolic, ":")
		if name := plumbing.ReferenceName(to); from == string(plumbing.HEAD) && name.IsBranch() {
			if id, ok := branches[name.Short()]; ok {
				return name.Short(), id, nil
			}
			return "", hash{}, git.Refuse("The default branch %s has no commit yet. Commit the files and push them.", core.Quote(name.Short()))
		}
	}
	return "", hash{}, git.Refuse("The server names no default branch. Set one in the settings of the repository, and push a commit to it.")
}

// receive downloads a commit into the store.
func (m *remote) receive(ctx context.Context, session transport.UploadPackSession, commit hash, store *filesystem.Storage, scratch string) error {
	request := packp.NewUploadPackRequestFromCapabilities(m.reference.Capabilities)
	request.Wants = []hash{commit}
	// Without these the answer is the pack itself, which is complete.
	for _, unwanted := range []capability.Capability{capability.Sideband, capability.Sideband64k, capability.ThinPack} {
		request.Capabilities.Delete(unwanted)
	}
	if m.reference.Capabilities.Supports(capability.NoProgress) {
		if err := request.Capabilities.Set(capability.NoProgress); err != nil {
			return err
		}
	}
	if m.reference.Capabilities.Supports(capability.Shallow) {
		request.Depth = packp.DepthCommits(1)
		if err := request.Capabilities.Set(capability.Shallow); err != nil {
			return err
		}
	}
	answer, err := session.UploadPack(ctx, request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Close() }()
	pack, err := os.CreateTemp(scratch, "received-")
	if err != nil {
		return err
	}
	defer func() { _ = pack.Close() }()
	if _, err := io.Copy(pack, answer); err != nil {
		return err
	}
	if err := m.h.checkPack(ctx, pack); err != nil {
		return err
	}
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := packfile.UpdateObjectStorage(store, pack); err != nil {
		return fmt.Errorf("index the objects of the repository: %w", err)
	}
	return nil
}

// push sends a commit as a new branch.
func (m *remote) push(ctx context.Context, branch string, commit hash, added *newObjects) error {
	session, err := m.client.NewReceivePackSession(m.endpoint(), m.auth)
	if err != nil {
		return m.explain(err)
	}
	refs, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return m.explain(err)
	}
	store := memory.NewStorage()
	for _, id := range added.ids {
		if _, err := store.SetEncodedObject(added.objects[id]); err != nil {
			return err
		}
	}
	var pack bytes.Buffer
	if _, err := packfile.NewEncoder(&pack, store, false).Encode(added.ids, 0); err != nil {
		return err
	}
	request := packp.NewReferenceUpdateRequestFromCapabilities(refs.Capabilities)
	request.Commands = []*packp.Command{{Name: plumbing.NewBranchReferenceName(branch), New: commit}}
	request.Packfile = io.NopCloser(&pack)
	report, err := session.ReceivePack(ctx, request)
	if report != nil && report.Error() != nil {
		return git.Refuse("The server of the repository did not take the branch %s: %s", core.Quote(branch), core.Quote(report.Error().Error()))
	}
	return m.explain(err)
}

// explain returns a Refusal for a failure that people can remove.
func (m *remote) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errTooMuch):
		return git.Refuse("The repository is larger than %d MiB without its history. Connect a repository with the definitions only.", m.h.cfg.MaxPack>>20)
	case errors.Is(err, errElsewhere):
		return git.Refuse("The server of the repository redirects to another one, which is not followed. Connect the address to which it redirects.")
	case errors.Is(err, outbound.ErrAddress), errors.Is(err, outbound.ErrPort):
		return git.Refuse("This server does not connect to the address of the repository: it is not on the public Internet, or has another port than 443. The operator can allow networks with --git-networks.")
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return git.Refuse("The server of the repository refuses the credentials. Connect the repository again with a user name and a token that may read it and push branches.")
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return git.Refuse("The server has no repository at %s, or hides it without credentials.", core.Quote(m.location))
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return git.Refuse("The repository has no commit yet. Commit the files and push them.")
	default:
		return err
	}
}
