// Package consent is the page on which a person allows a client to act for them: the
// authorization endpoint of RFC 6749 section 3.1.
//
// It shows the page and handles the person's decision. Package oauth validates
// authorization requests and issues codes. Package oauth/login signs the person in and
// provides the layout of the page.
//
// A form is valid for one session, one organization and one authorization request, because
// its token is derived from all three. The request is validated again when the form is
// submitted; no value of the form is trusted.
package consent
