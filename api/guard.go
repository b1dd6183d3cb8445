package api

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// guarded refuses what a web page elsewhere could make a browser send here.
//
// The Host must be a name of the loopback or one of Config.AllowHosts: a page
// whose own name has been pointed at this machine (DNS rebinding) still sends
// that name. A request that changes something must not come from another
// origin, as Sec-Fetch-Site or Origin tell; programs send neither.
func (s *Server) guarded() echo.MiddlewareFunc {
	origins := http.NewCrossOriginProtection()
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			if !s.answersTo(r.Host) {
				return fail(http.StatusMisdirectedRequest, "this server does not go by that Host name; it is given further ones with --allow-host or Config.AllowHosts")
			}
			if err := origins.Check(r); err != nil {
				return fail(http.StatusForbidden, "a page of another origin may not do this")
			}
			return next(c)
		}
	}
}

// answersTo reports whether a Host header names this server.
func (s *Server) answersTo(host string) bool {
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if name == "localhost" {
		return true
	}
	if addr, err := netip.ParseAddr(name); err == nil && addr.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(s.config.AllowHosts, func(allowed string) bool { return name != "" && strings.EqualFold(name, allowed) })
}

// reachable reports whether other machines can connect to a listener.
func reachable(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && !tcp.IP.IsLoopback()
}
