// Package templates is the templates of an organization as its sending account holds them.
package templates
