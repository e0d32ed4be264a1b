package browser_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"net/smtp"
	"strings"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// signUpMail is a mail with everything that the page of a message shows: text, HTML with an
// image, a code, links, and attachments. The HTML also has what the page must not show.
func signUpMail(to, remote string) string {
	html := `<html><head><style>.box{background:#1f6feb;color:#fff;padding:24px}</style><script>parent.document.title="run"</script></head>
<body bgcolor="#f6f8fa" onload="parent.document.title='run'"><table width="560" align="center" cellpadding="0" cellspacing="0"><tr><td class="box"><h1>Acme</h1></td></tr>
<tr><td style="padding:24px;background-color:#ffffff;font-family:Arial,sans-serif"><p>Your code is <strong style="font-size:28px;letter-spacing:4px">482913</strong>.</p>
<p><a href="https://acme.test/confirm?token=abc" style="background-color:#1f6feb;color:#ffffff;padding:10px 18px;text-decoration:none;border-radius:6px">Confirm address</a></p>
<img src="` + remote + `?pixel" width="1" height="1" alt=""><img src="` + remote + `?banner" width="400" height="40" alt="Spring sale banner"></td></tr></table></body></html>`
	return crlf(fmt.Sprintf(`From: Acme Accounts <noreply@acme.test>
To: %s
Reply-To: help@acme.test
Subject: Your code is 482913
Date: Sun, 1 Mar 2026 12:00:00 +0000
Message-ID: <1@acme.test>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=m

--m
Content-Type: multipart/alternative; boundary=a

--a
Content-Type: text/plain; charset=utf-8

Your verification code is 482913.
Or open https://acme.test/confirm?token=abc to confirm your address.
--a
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: base64

%s
--a--
--m
Content-Type: application/pdf; name=terms.pdf
Content-Disposition: attachment; filename="Terms and conditions of the Acme Corporation, version of the first of March 2026, with all annexes.pdf"

%%PDF
--m
Content-Type: text/plain
Content-Disposition: attachment; filename*=utf-8''invoice%%E2%%80%%AEfdp.exe

MZ
--m--
`, to, base64.StdEncoding.EncodeToString([]byte(html))))
}

// trickMail is a mail whose header fields try to show something false: a display name with the
// address of another person, characters that turn the direction of the text, control characters,
// markup, and a subject without a place to break. Its HTML shows a PNG of the mail, whose part has
// a false type, and refers to an SVG with the type of a PNG.
func trickMail(to string) string {
	word := func(text string) string { return "=?utf-8?B?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?=" }
	return crlf(fmt.Sprintf(`From: %s <attacker@evil.test>
To: %s
Subject: %s
Date: Sun, 1 Mar 2026 12:00:00 +0000
Message-ID: <2@evil.test>
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary=a

--a
Content-Type: text/plain; charset=utf-8

See the attachment.
--a
Content-Type: multipart/related; boundary=r

--r
Content-Type: text/html; charset=utf-8

<img src="cid:logo@evil.test" width="1600" height="300" alt="The logo"><p><img src="cid:svg@evil.test" width="90" height="30" alt="The drawing"> Pay now.
--r
Content-Type: application/x-msdownload
Content-ID: <logo@evil.test>
Content-Transfer-Encoding: base64

%s
--r
Content-Type: image/png
Content-ID: <svg@evil.test>

<svg xmlns="http://www.w3.org/2000/svg"><script>parent.document.title="run"</script></svg>
--r--
--a--
`, word("security@bank.test\u202e\u2066 <b>Bank</b>\x1b[31m\u200b"), to, word("<img src=x onerror=alert(1)>"+strings.Repeat("Donaudampfschifffahrt", 9)+"\u202egnp.exe\r\nBcc: x\u200b"), base64.StdEncoding.EncodeToString(logo())))
}

// logoColour is the only colour of the logo.
const logoColour = "#c2185b"

// logo returns a PNG.
func logo() []byte {
	picture := image.NewRGBA(image.Rect(0, 0, 8, 2))
	draw.Draw(picture, picture.Bounds(), image.NewUniform(color.RGBA{0xc2, 0x18, 0x5b, 0xff}), image.Point{}, draw.Src)
	var b bytes.Buffer
	_ = png.Encode(&b, picture) // writing to memory does not fail
	return b.Bytes()
}

// crlf returns a text with the line ends of mail.
func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// deliver sends a mail to the product by SMTP. The function of the standard library would refuse
// the certificate of the server, which is its own.
func deliver(p *product.Product, from, to, raw string) error {
	c, err := smtp.Dial(p.SMTPAddr)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // the replies to the commands count
	if err := errors.Join(c.Mail(from), c.Rcpt(to)); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, raw); err != nil {
		return err
	}
	return errors.Join(w.Close(), c.Quit())
}
