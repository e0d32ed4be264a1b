// Package config is the configuration of a server: its role, its data folder and
// databases, its listen addresses and its public addresses. It checks the configuration
// and derives the parts that are not set.
//
// Package settings finds the values, package serve starts a server with them, and package
// doctor examines whether a server would start.
package config
