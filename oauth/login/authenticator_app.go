package login

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/pquerna/otp"
)

// appPage is the data of the page on which a person sets up an authenticator app.
type appPage struct {
	Token, Problem string
	Next, Back     string // the paths of the page to open after the setup, and of the security page
	// Secret is the secret of the app in groups of four characters, for typing.
	Secret string
	QR     squares
}

// beginApp shows the page that sets up an authenticator app. Each call makes a new secret,
// so a secret that was seen earlier is useless.
func (p *securityPages) beginApp(w http.ResponseWriter, r *http.Request) {
	v, ok := p.submitter(w, r)
	if !ok {
		return
	}
	key, err := p.factors.BeginApp(r.Context(), v)
	if err != nil {
		p.refuseChange(w, r, v, err)
		return
	}
	p.showApp(w, r, v, key, nil)
}

// confirmApp checks the first code from the authenticator app, stores the app and shows the
// recovery codes.
func (p *securityPages) confirmApp(w http.ResponseWriter, r *http.Request) {
	v, ok := p.submitter(w, r)
	if !ok {
		return
	}
	added, err := p.factors.ConfirmApp(r.Context(), v, r.PostForm.Get(fieldCode), requestID(r))
	if err == nil {
		p.cookies.session.set(w, added.Secret)
		p.showCodes(w, r, added.RecoveryCodes)
		return
	}
	e := core.AsError(err)
	if e.Code != core.CodeValidationFailed && e.Code != core.CodeRateLimited {
		p.refuseChange(w, r, v, err)
		return
	}
	p.logRefusal(r, "first code", e)
	key, err := p.factors.PendingApp(r.Context(), v)
	if err != nil {
		p.refuseChange(w, r, v, err)
		return
	}
	p.showApp(w, r, v, key, e)
}

// showApp writes the page with the QR code and the secret of an authenticator app. If the
// error in the parameter wrong is not nil, the page shows this error.
func (p *securityPages) showApp(w http.ResponseWriter, r *http.Request, v people.Visitor, key people.AppKey, wrong *core.Error) {
	qr, err := squaresOf(key.URI)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	page, status := appPage{
		Token: v.FormToken(SecurityPath), Next: nextPage(r), Back: securityAddress(r), Secret: groupSecret(key.Secret), QR: qr,
	}, http.StatusOK
	if wrong != nil {
		status, page.Problem = wrong.HTTPStatus(), wrong.Message+" "+wrong.NextStep()
		retryLater(w, wrong)
	}
	p.showSignedIn(w, r, v, status, p.app, "Authenticator app", page)
}

// removeApp removes the person's authenticator app and shows the security page.
func (p *securityPages) removeApp(w http.ResponseWriter, r *http.Request) {
	p.applyChange(w, r, func(v people.Visitor) error { return p.factors.RemoveApp(r.Context(), v, requestID(r)) })
}

// squares is a QR code, drawn as the path of an SVG image inside the page. A separate image
// would need a URL with the secret, and an image source in the content security policy.
type squares struct {
	Path string
	Size int // the side length of the QR code in squares, including the empty border
}

// quiet is the width of the empty border around a QR code that scanners need, in squares
// (ISO/IEC 18004 section 6.3.8).
const quiet = 4

// The sides of the smallest and the largest QR code, and the step between sizes, in
// squares.
const (
	smallestQR = 21
	largestQR  = 177
	stepQR     = 4
)

// squaresOf returns the smallest QR code that can hold uri. It asks the QR code library for
// one pixel per square.
func squaresOf(uri string) (squares, error) {
	key, err := otp.NewKeyFromURL(uri)
	if err != nil {
		return squares{}, fmt.Errorf("QR code: %w", err)
	}
	for side := smallestQR; side <= largestQR; side += stepQR {
		image, err := key.Image(side, side)
		if err != nil {
			continue // too small for this text
		}
		var path strings.Builder
		for y := range side {
			for x := range side {
				if dark, _, _, _ := image.At(x, y).RGBA(); dark == 0 {
					fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+quiet, y+quiet)
				}
			}
		}
		return squares{Path: path.String(), Size: side + 2*quiet}, nil
	}
	return squares{}, fmt.Errorf("QR code: %d characters are too many", len(uri))
}

// groupSecret inserts a space after every fourth character of the secret.
func groupSecret(secret string) string {
	var groups []string
	for len(secret) > 4 {
		groups, secret = append(groups, secret[:4]), secret[4:]
	}
	return strings.Join(append(groups, secret), " ")
}
