#include "transport/channel.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <sstream>
#include <utility>

#include "transport/listen_address.h"
#include "transport/small_file.h"

namespace tidemark::transport {
namespace {

// Reads a file. Errors are InvalidArgument, since callers could mistake a code such as NotFound for
// an answer of the master.
absl::StatusOr<std::string> ReadOwnFile(const std::string& name) {
  absl::StatusOr<std::string> read = ReadSmallFile(name);
  if (read.ok()) return read;
  return absl::InvalidArgumentError(read.status().message());
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(
    const ClientSecurity& security) {
  if (security.certificate_file.empty() != security.key_file.empty()) {
    return absl::InvalidArgumentError(
        "a client certificate and its key go together: pass both --tls-certificate and --tls-key, "
        "or neither");
  }
  if (security.ca_file.empty()) {
    if (!security.certificate_file.empty()) {
      return absl::InvalidArgumentError(
          "a client certificate is used only over TLS: pass --tls-ca too");
    }
    return grpc::InsecureChannelCredentials();
  }
  grpc::SslCredentialsOptions options;
  const std::pair<const std::string*, std::string*> files[] = {
      {&security.ca_file, &options.pem_root_certs},
      {&security.certificate_file, &options.pem_cert_chain},
      {&security.key_file, &options.pem_private_key}};
  for (const auto& [name, contents] : files) {
    if (name->empty()) continue;
    absl::StatusOr<std::string> read = ReadOwnFile(*name);
    if (!read.ok()) return read.status();
    *contents = *std::move(read);
  }
  return grpc::SslCredentials(options);
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const std::string& address,
                                                           const ClientSecurity& security,
                                                           grpc::ChannelArguments arguments) {
  if (const std::string fault = MasterAddressFault(address); !fault.empty()) {
    return absl::InvalidArgumentError(NamedFault("the address of the master", fault));
  }
  auto credentials = MakeCredentials(security);
  if (!credentials.ok()) return credentials.status();
  if (!security.server_name.empty()) arguments.SetSslTargetNameOverride(security.server_name);
  return grpc::CreateCustomChannel(address, *credentials, arguments);
}

absl::Status AddToken(const std::string& address, const ClientSecurity& security,
                      grpc::ClientContext& context) {
  if (security.token_file.empty()) return absl::OkStatus();
  if (security.ca_file.empty() && !IsLocalAddress(address)) {
    return absl::FailedPreconditionError(
        fmt::format("the token is not sent to {} without TLS: pass --tls-ca", address));
  }
  const absl::StatusOr<std::string> text = ReadOwnFile(security.token_file);
  if (!text.ok()) return text.status();
  const absl::StatusOr<std::string> token = ParseToken(*text, security.token_file);
  if (!token.ok()) return token.status();
  context.AddMetadata("authorization", "Bearer " + *token);
  return absl::OkStatus();
}

void AddJob(const std::string& job_id, grpc::ClientContext& context) {
  if (!job_id.empty()) context.AddMetadata("tidemark-job", JobMetadata(job_id));
}

std::string JobMetadata(const std::string& job_id) {
  std::string value;
  for (const char c : job_id) {
    if (c > ' ' && c <= '~' && c != '%') {
      value += c;
    } else {
      fmt::format_to(std::back_inserter(value), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return value;
}

absl::StatusOr<std::string> ParseToken(const std::string& text, const std::string& file) {
  std::string token;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || line[0] == '#') continue;
    const bool is_word =
        std::all_of(line.begin(), line.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (!token.empty() || !is_word) {
      return absl::InvalidArgumentError(fmt::format(
          "{} must contain exactly one token: one line of printable ASCII without spaces", file));
    }
    token = line;
  }
  if (token.empty()) return absl::InvalidArgumentError(fmt::format("{} contains no token", file));
  return token;
}

namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Names = std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

absl::Status Fault(const std::string& file, const char* what) {
  ERR_clear_error();  // The message may quote the file.
  return absl::InvalidArgumentError(fmt::format("{}: {}", file, what));
}

// Provides no password for a key.
int NoPassword(char*, int, int, void*) { return 0; }

absl::StatusOr<Bio> OpenPem(const std::string& file) {
  const absl::StatusOr<std::string> text = ReadSmallFile(file);
  if (!text.ok()) return text.status();
  Bio bio(BIO_new(BIO_s_mem()), BIO_free);
  BIO_write(bio.get(), text->data(), static_cast<int>(text->size()));
  return bio;
}

absl::StatusOr<Certificate> ReadCertificate(const std::string& file) {
  const absl::StatusOr<Bio> bio = OpenPem(file);
  if (!bio.ok()) return bio.status();
  Certificate certificate(PEM_read_bio_X509(bio->get(), nullptr, NoPassword, nullptr), X509_free);
  if (certificate == nullptr) return Fault(file, "contains no PEM certificate");
  return certificate;
}

std::string Text(const ASN1_STRING* text) {
  return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                     static_cast<std::size_t>(ASN1_STRING_length(text)));
}

absl::Time ToTime(const ASN1_TIME* at) {
  std::tm fields{};
  if (ASN1_TIME_to_tm(at, &fields) != 1) return absl::InfinitePast();
  return absl::FromTM(fields, absl::UTCTimeZone());
}

}  // namespace

absl::StatusOr<absl::Time> CertificateEnd(const std::string& file, absl::Time now) {
  const absl::StatusOr<Certificate> certificate = ReadCertificate(file);
  if (!certificate.ok()) return certificate.status();
  const absl::Time end = ToTime(X509_get0_notAfter(certificate->get()));
  if (end < now) return Fault(file, "the certificate has expired");
  if (ToTime(X509_get0_notBefore(certificate->get())) > now) {
    return Fault(file, "the certificate is not valid yet");
  }
  return end;
}

absl::StatusOr<std::string> CertificateName(const std::string& file) {
  const absl::StatusOr<Certificate> certificate = ReadCertificate(file);
  if (!certificate.ok()) return certificate.status();
  std::string name;
  const Names names(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(
                        certificate->get(), NID_subject_alt_name, nullptr, nullptr)),
                    GENERAL_NAMES_free);
  for (int i = 0; name.empty() && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* entry = sk_GENERAL_NAME_value(names.get(), i);
    if (entry->type == GEN_DNS) name = Text(entry->d.dNSName);
  }
  X509_NAME* subject = X509_get_subject_name(certificate->get());
  const int common = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (name.empty() && common >= 0) {
    name = Text(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, common)));
  }
  // Any host matches a wildcard.
  if (name.starts_with("*.")) name[0] = 'a';
  return name;
}

absl::Status CheckKey(const std::string& certificate_file, const std::string& key_file) {
  const absl::StatusOr<Certificate> certificate = ReadCertificate(certificate_file);
  if (!certificate.ok()) return certificate.status();
  const absl::StatusOr<Bio> bio = OpenPem(key_file);
  if (!bio.ok()) return bio.status();
  const Key key(PEM_read_bio_PrivateKey(bio->get(), nullptr, NoPassword, nullptr), EVP_PKEY_free);
  if (key == nullptr) return Fault(key_file, "contains no PEM private key without a password");
  if (X509_check_private_key(certificate->get(), key.get()) == 1) return absl::OkStatus();
  return Fault(key_file, "does not match the certificate");
}

}  // namespace tidemark::transport
