// Package templates stores copies of the email templates of the sending account.
package templates
