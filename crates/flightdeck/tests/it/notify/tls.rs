//! Notes over https: a server whose certificate the machine trusts gets them, and another one does not.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::serve::Listener;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto};
use tokio_rustls::server::TlsStream;

use super::NoteServer;
use super::programs::up_with;
use crate::home::test_home;

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls").join(file)
}

/// Connections of clients that trusted our certificate.
struct TlsListener {
    tcp: TcpListener,
    tls: TlsAcceptor,
}

impl TlsListener {
    fn new(tcp: TcpListener) -> Self {
        let certificates = CertificateDer::pem_file_iter(data("server.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(data("server.key")).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(certificates.map(Result::unwrap).collect(), key)
            .unwrap();
        Self { tcp, tls: TlsAcceptor::from(Arc::new(config)) }
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            let (stream, addr) = self.tcp.accept().await.unwrap();
            if let Ok(stream) = self.tls.accept(stream).await {
                return (stream, addr);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}

/// What `notify test` prints if the machine trusts this authority only, and whether the server got anything.
fn tested(authority: &str) -> (String, bool) {
    let server = NoteServer::start_with("127.0.0.1:0".parse().unwrap(), TlsListener::new);
    let home = test_home();
    let config =
        format!("[notify]\ntargets = [{{ kind = \"webhook\", url = \"https://{}/hook\" }}]\n", server.addr);
    let _daemon = up_with(&home, &config, |command| {
        command.env("SSL_CERT_FILE", data(authority)).env_remove("SSL_CERT_DIR");
    });
    let tested = home.run(&["notify", "test"]);
    let said = tested.out.replace(&server.addr.to_string(), "ADDR");
    (said, !server.taken().is_empty())
}

#[test]
fn a_webhook_over_https_gets_a_note_if_its_certificate_is_trusted() {
    assert_eq!(tested("ca.pem"), ("webhook: delivered\n".to_owned(), true));
}

#[test]
fn a_server_with_an_unknown_authority_gets_nothing() {
    let (said, taken) = tested("other-ca.pem");
    assert!(said.starts_with("webhook: not delivered: ADDR: invalid peer certificate"), "{said}");
    assert!(!taken);
}
