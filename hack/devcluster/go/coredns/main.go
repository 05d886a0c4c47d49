// Package main is CoreDNS with the plugins that the development cluster's Corefile uses; the full build takes three times
// as long for plugins of cloud providers.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loop"
	_ "github.com/coredns/coredns/plugin/ready"
)

// The order in which plugins see a query, as in CoreDNS's own plugin.cfg.
func init() {
	dnsserver.Directives = []string{"bind", "health", "ready", "errors", "cache", "kubernetes", "loop", "forward"}
}

func main() {
	coremain.Run()
}
