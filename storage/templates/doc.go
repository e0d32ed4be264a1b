// Package templates stores copies of the templates of the sending account.
package templates
