package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// errRspamd is the error for a text that is not the address of rspamd. It does not repeat the
// text, which may contain a password.
var errRspamd = errors.New("--rspamd-url: must be the address of rspamd's normal worker, such as http://127.0.0.1:11333, without a user")

// Rspamd returns the address of rspamd, or nil if none is configured.
func (c Config) Rspamd() (*url.URL, error) {
	if c.RspamdURL == "" {
		return nil, nil //nolint:nilnil // documented: no scanner is configured
	}
	u, err := url.Parse(c.RspamdURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, errRspamd
	}
	return u, nil
}

// ClamdAddress is where clamd listens. Network is "tcp" with an Address host:port, or "unix"
// with the path of a socket.
type ClamdAddress struct{ Network, Address string }

// ClamAV returns the address of clamd, or false if none is configured.
func (c Config) ClamAV() (ClamdAddress, bool, error) {
	if c.Clamd == "" {
		return ClamdAddress{}, false, nil
	}
	if path, local := strings.CutPrefix(c.Clamd, "unix:"); local {
		if !filepath.IsAbs(path) {
			return ClamdAddress{}, false, fmt.Errorf("--clamd %s: the path of a socket must be absolute, as in unix:/run/clamav/clamd.ctl", c.Clamd)
		}
		return ClamdAddress{Network: "unix", Address: path}, true, nil
	}
	host, port, err := net.SplitHostPort(c.Clamd)
	if number, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || number == 0 || host == "" || strings.ContainsAny(host, "/@") {
		return ClamdAddress{}, false, fmt.Errorf("--clamd %s: must be host:port, such as 127.0.0.1:3310, or unix: and the path of a socket", c.Clamd)
	}
	return ClamdAddress{Network: "tcp", Address: c.Clamd}, true, nil
}
